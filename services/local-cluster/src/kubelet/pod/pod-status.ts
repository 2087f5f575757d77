import { type Json, type JsonObject, type KubeObject, at, isObject, listAt, textAt, timestamp } from "../../object/model.js";
import { equalJson } from "../../object/merge-patch.js";
import type { ContainerSpec } from "../container/container-spec.js";
import type { PodPlan, Run } from "./plan-pod.js";

export interface ContainerStatusInput {
  readonly spec: ContainerSpec;
  readonly run: Run | undefined;
  /** The previous run, if any. */
  readonly previous: Run | undefined;
  readonly waiting: { readonly reason: string; readonly message: string } | undefined;
  readonly containerId: string;
  readonly previousId: string;
}

export interface PodStatusInput {
  readonly pod: KubeObject;
  readonly containers: readonly ContainerStatusInput[];
  readonly plan: PodPlan;
  readonly hostIP: string;
  readonly now: number;
}

/**
 * Computes the status that kubelet would report; returns the previous object when it is unchanged.
 */
export function podStatus({ pod, containers, plan, hostIP, now }: PodStatusInput): JsonObject {
  const old = isObject(pod["status"]) ? pod["status"] : {};
  const hasInit = containers.some(({ spec }) => spec.role !== "main");
  const shown = containers.map((container) => ({
    role: container.spec.role,
    status: containerStatus(container, { decision: plan, hasInit }),
  }));
  const init = shown.filter(({ role }) => role !== "main").map(({ status }) => status);
  const main = shown.filter(({ role }) => role === "main").map(({ status }) => status);
  const { observedGeneration: _, ...kept } = old;
  const status: JsonObject = {
    ...kept,
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    phase: plan.phase,
    ...(plan.deadlineExceeded
      ? { reason: "DeadlineExceeded", message: "Pod was active on the node longer than the specified deadline" }
      : {}),
    conditions: conditions({ pod, init: [...init], main, plan, now }),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP: hostIP,
    podIPs: [{ ip: hostIP }],
    startTime: old["startTime"] ?? timestamp(now),
    ...(init.length === 0 ? {} : { initContainerStatuses: init }),
    containerStatuses: main,
  };
  return equalJson(status, old) ? old : status;
}

function containerStatus(
  { spec, run, previous, waiting, containerId, previousId }: ContainerStatusInput,
  { decision: plan, hasInit }: { decision: PodPlan; hasInit: boolean },
): JsonObject {
  const resources = spec.raw["resources"];
  const backOff = plan.backOff.get(spec.name);
  const state = stateOf({ run, waiting, containerId, backOff, spec, plan, hasInit });
  const running = state["running"] !== undefined;
  const restarting = run?.state === "ended" && state["terminated"] === undefined;
  const last = restarting ? run : previous;
  return {
    ...(isObject(resources) && isObject(resources["requests"]) && run !== undefined ? { allocatedResources: resources["requests"] } : {}),
    ...(run === undefined ? {} : { containerID: containerId }),
    image: spec.image,
    imageID: run === undefined ? "" : `local-process://${spec.image}`,
    lastState: last?.state === "ended" ? { terminated: terminated(last, restarting ? containerId : previousId) } : {},
    name: spec.name,
    ready: spec.role === "init" ? run?.state === "ended" && run.exitCode === 0 : running,
    ...(isObject(resources) && Object.keys(resources).length > 0 && run !== undefined ? { resources } : {}),
    restartCount: run?.attempt ?? 0,
    started: spec.role === "init" ? false : running,
    state,
  };
}

interface StateInput {
  readonly run: Run | undefined;
  readonly waiting: ContainerStatusInput["waiting"];
  readonly containerId: string;
  readonly backOff: { readonly delayMs: number } | undefined;
  readonly spec: ContainerSpec;
  readonly plan: PodPlan;
  readonly hasInit: boolean;
}

function stateOf({ run, waiting, containerId, backOff, spec, plan, hasInit }: StateInput): JsonObject {
  if (run?.state === "running") return { running: { startedAt: timestamp(run.startedAt) } };
  const ends = plan.phase === "Succeeded" || plan.phase === "Failed" || plan.done;
  if (run?.state === "ended" && backOff === undefined && (waiting === undefined || ends))
    return { terminated: terminated(run, containerId) };
  if (backOff !== undefined && !ends) {
    return {
      waiting: { reason: "CrashLoopBackOff", message: `back-off ${duration(backOff.delayMs)} restarting failed container=${spec.name}` },
    };
  }
  if (waiting !== undefined)
    return { waiting: { ...(waiting.message === "" ? {} : { message: waiting.message }), reason: waiting.reason } };
  // Containers that wait for others show PodInitializing; those being created show
  // ContainerCreating.
  const later = spec.role === "main" ? hasInit && !plan.initialized : true;
  return { waiting: { reason: later ? "PodInitializing" : "ContainerCreating" } };
}

const duration = (ms: number) => (ms >= 60_000 ? `${Math.floor(ms / 60_000)}m${(ms % 60_000) / 1000}s` : `${ms / 1000}s`);

function terminated(run: Run & { state: "ended" }, containerId: string): JsonObject {
  return {
    containerID: containerId,
    exitCode: run.exitCode,
    finishedAt: timestamp(run.finishedAt),
    ...(run.message === "" ? {} : { message: run.message }),
    reason: run.reason,
    startedAt: timestamp(run.startedAt),
  };
}

interface ConditionInput {
  readonly pod: KubeObject;
  readonly init: readonly JsonObject[];
  readonly main: readonly JsonObject[];
  readonly plan: PodPlan;
  readonly now: number;
}

type ConditionStatus = { readonly status: "True" | "False"; readonly reason?: string; readonly message?: string };

function conditions({ pod, init, main, plan, now }: ConditionInput): readonly Json[] {
  const { phase } = plan;
  const unready = main.filter((status) => status["ready"] !== true).map((status) => textAt(status, "name"));
  const incomplete = init.filter((status) => status["ready"] !== true).map((status) => textAt(status, "name"));
  const ready: ConditionStatus =
    phase === "Succeeded"
      ? { status: "False", reason: "PodCompleted" }
      : phase === "Failed"
        ? { status: "False", reason: "PodFailed" }
        : unready.length === 0
          ? { status: "True" }
          : { status: "False", reason: "ContainersNotReady", message: `containers with unready status: [${unready.join(" ")}]` };
  const initialized: ConditionStatus =
    phase === "Succeeded"
      ? { status: "True", reason: "PodCompleted" }
      : incomplete.length === 0 || plan.initialized
        ? { status: "True" }
        : { status: "False", reason: "ContainersNotInitialized", message: `containers with incomplete status: [${incomplete.join(" ")}]` };
  const active = [...init, ...main].some((status) => at(status, "state", "running") !== undefined);
  const verdicts: readonly (readonly [string, ConditionStatus])[] = [
    ["PodReadyToStartContainers", { status: active || !plan.done ? "True" : "False" }],
    ["Initialized", initialized],
    ["Ready", ready],
    ["ContainersReady", ready],
    ["PodScheduled", { status: "True" }],
  ];
  const old = listAt(pod, "status", "conditions");
  return verdicts.map(([type, verdict]) => condition(old, { type, verdict, pod, now }));
}

export function condition(
  old: readonly Json[],
  { type, verdict, pod, now }: { type: string; verdict: ConditionStatus; pod: KubeObject; now: number },
): JsonObject {
  const before = old.find((c) => textAt(c, "type") === type);
  const same = before !== undefined && textAt(before, "status") === verdict.status;
  return {
    lastProbeTime: null,
    lastTransitionTime: same ? (textAt(before, "lastTransitionTime") ?? timestamp(now)) : timestamp(now),
    ...(verdict.message === undefined ? {} : { message: verdict.message }),
    ...(pod.metadata.generation === undefined ? {} : { observedGeneration: pod.metadata.generation }),
    ...(verdict.reason === undefined ? {} : { reason: verdict.reason }),
    status: verdict.status,
    type,
  };
}
