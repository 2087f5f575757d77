import type { JsonObject } from "@bufbuild/protobuf";
import type { ContainerState, Pod, PodCondition } from "@flyte-ts/pod-task";
import { RetryableFailure } from "@flyte-ts/task-plugin";
import { describe, expect, it } from "vitest";
import { kubeflowOperators } from "../kubeflow/kubeflow.js";
import type { Job } from "../operator.js";
import { observeJob } from "./observe-job.js";

const minutes = (count: number) => count * 60_000;
const GRACE = { createContainerErrorMs: minutes(3), createContainerConfigErrorMs: 0, imagePullBackOffMs: minutes(3), podPendingMs: 0 };
const CREATED = "2026-01-01T00:00:00Z";
const NOW = new Date("2026-01-01T00:00:30Z");
const [operator] = kubeflowOperators;
if (operator === undefined) throw new Error("there is no operator");

const conditions = (...types: string[]): JsonObject => ({ conditions: types.map((type) => ({ type, status: "True" })) });
const job = (status: JsonObject | undefined, metadata: Partial<Job["metadata"]> = {}): Job => ({
  metadata: { name: "j", namespace: "ns", creationTimestamp: CREATED, ...metadata },
  ...(status === undefined ? {} : { status }),
});
interface PodFacts {
  readonly state?: ContainerState;
  readonly conditions?: PodCondition[];
  readonly metadata?: Partial<Pod["metadata"]>;
}
const pod = (name: string, phase: string, { state = {}, conditions: given = [], metadata = {} }: PodFacts = {}): Pod => ({
  metadata: { name, namespace: "ns", ...metadata },
  spec: { containers: [{ name: "c" }] },
  status: { phase, conditions: given, containerStatuses: [{ name: "c", state }] },
});
const waitingPod = (name: string, reason: string, since = CREATED): Pod =>
  pod(name, "Pending", {
    state: { waiting: { reason, message: "why" } },
    conditions: [{ type: "Ready", status: "False", reason: "ContainersNotReady", message: "unready", lastTransitionTime: since }],
  });
const observe = (observed: Job, pods: readonly Pod[], now = NOW) =>
  observeJob({ operator, job: observed, pods }, { gracePeriods: GRACE, operatorTimeoutMs: minutes(1), now });

describe("a job whose pods wait", () => {
  const created = job(conditions("Created"));

  it("says why the first one does, and how many others do", () => {
    const unschedulable: PodCondition[] = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" }];
    const pods = ["a", "b", "c"].map((name) => pod(name, "Pending", { conditions: unschedulable }));
    expect(observe(created, pods).state).toMatchObject({ phase: "QUEUED", reason: "a: Unschedulable:no node; 2 more pods wait" });
  });

  it("adds Kubernetes' latest warning about the pod, or about the job", () => {
    const warnings: Record<string, string> = { p: "FailedMount: no volume", j: "FailedCreatePod: exceeded quota" };
    const options = { gracePeriods: GRACE, operatorTimeoutMs: minutes(1), now: NOW, warningOf: (uid = "") => warnings[uid] };
    const reasonOf = (status: JsonObject, pods: readonly Pod[]) =>
      observeJob({ operator, job: job(status, { uid: "j" }), pods }, options).state;
    const mounting = waitingPod("a", "ContainerCreating");
    const ofPod = { ...mounting, metadata: { ...mounting.metadata, uid: "p" } };
    expect(reasonOf(conditions("Created"), [])).toMatchObject({
      phase: "QUEUED",
      reason: expect.stringMatching(/FailedCreatePod: exceeded quota$/),
    });
    expect(reasonOf(conditions("Running"), [ofPod])).toMatchObject({
      phase: "RUNNING",
      reason: "a: [ContainersNotReady|ContainerCreating]: unready|why; FailedMount: no volume",
    });
  });

  it("initializes while a node prepares one", () => {
    expect(observe(created, [waitingPod("a", "ContainerCreating")]).state).toMatchObject({
      phase: "INITIALIZING",
      reason: "a: [ContainersNotReady|ContainerCreating]: unready|why",
    });
  });

  it("fails before its operator does, after the grace period", () => {
    const pods = [waitingPod("a", "ImagePullBackOff")];
    expect(observe(created, pods)).toMatchObject({ premature: false, recheckAt: new Date("2026-01-01T00:03:00Z") });
    const failed = observe(created, pods, new Date("2026-01-01T00:03:00Z"));
    expect(failed).toMatchObject({
      premature: true,
      state: { failure: { recoverable: true, details: { code: "ContainersNotReady|ImagePullBackOff", cleanup: true } } },
    });
  });

  it("fails permanently for an invalid image name", () => {
    const { state } = observe(created, [waitingPod("a", "InvalidImageName")]);
    expect(state).toMatchObject({ kind: "failed", failure: { recoverable: false, message: "a: unready|why" } });
  });

  it("goes on while an init container starts again and again: it waits for another pod", () => {
    expect(observe(created, [waitingPod("a", "CrashLoopBackOff")]).state).toMatchObject({ kind: "progress" });
  });

  it("ignores pods that are being deleted", () => {
    const deleted = waitingPod("a", "InvalidImageName");
    const pods = [{ ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: CREATED } }];
    expect(observe(created, pods).state).toMatchObject({ kind: "progress", reason: "JobCreated" });
  });
});

describe("a job without a status", () => {
  it("says after a while that no operator acts", () => {
    expect(observe(job(undefined), [])).toMatchObject({ recheckAt: new Date("2026-01-01T00:01:00Z"), state: { reason: "JobCreated" } });
    expect(observe(job(undefined), [], new Date("2026-01-01T00:01:00Z")).state).toMatchObject({
      kind: "progress",
      reason: expect.stringMatching(/^no operator has acted on PyTorchJob ns\/j for 60 s/),
    });
  });
});

describe("a job that another client deletes", () => {
  it("has failed, unless it ended before", () => {
    const metadata = { deletionTimestamp: CREATED };
    expect(observe(job(conditions("Running"), metadata), [])).toMatchObject({
      premature: true,
      state: { failure: { details: { code: "UnexpectedObjectDeletion", kind: "SYSTEM" } } },
    });
    expect(observe(job(conditions("Succeeded"), metadata), []).state.kind).toBe("succeeded");
  });
});

describe("a failed job", () => {
  const failed = job({ conditions: [{ type: "Failed", status: "True", reason: "R", message: "m" }] });
  const exited = (name: string, exitCode: number, second: number, reason = "Error") =>
    pod(name, "Failed", {
      state: { terminated: { exitCode, reason, message: `of ${name}`, finishedAt: `2026-01-01T00:00:${10 + second}Z` } },
    });

  it("has the end of the pod that failed first", () => {
    // Pod b was killed because the job had failed.
    const { state } = observe(failed, [exited("b", 137, 2), exited("a", 1, 1)]);
    expect(state).toMatchObject({ failure: { details: { code: "DownstreamSystemError", kind: "USER" } } });
    expect(state.kind === "failed" && state.failure.message).toMatch(/^Job failed:\n\tR - m\na: \[c\] terminated with exit code \(1\)/);
  });

  it("names a kill for lack of memory", () => {
    expect(observe(failed, [exited("a", 137, 1, "OOMKilled")]).state).toMatchObject({
      failure: { details: { code: "OOMKilled", kind: "USER" } },
    });
  });

  it("counts as the system's when a node killed the pod", () => {
    const evicted = { ...exited("a", 143, 1), status: { ...exited("a", 143, 1).status, reason: "Evicted", message: "low memory" } };
    expect(observe(failed, [evicted]).state).toMatchObject({
      failure: { recoverable: true, details: { code: "Evicted", kind: "SYSTEM" } },
    });
  });

  it("knows a kill from a container that has started again", () => {
    const restarted = pod("a", "Running", { state: { running: {} } });
    const status = restarted.status?.containerStatuses?.[0];
    if (status !== undefined) status.lastState = { terminated: { exitCode: 137, reason: "OOMKilled" } };
    expect(observe(failed, [restarted]).state).toMatchObject({ failure: { details: { code: "OOMKilled" } } });
  });

  it("is explained by the kill of a replaced pod only if it is the system's", () => {
    const options = { gracePeriods: GRACE, operatorTimeoutMs: minutes(1), now: NOW };
    const replaced = [exited("a", 137, 1, "OOMKilled"), exited("b", 1, 2)];
    const codeOf = (kind: "USER" | "SYSTEM") => {
      const failure = new RetryableFailure({ code: "Lost", kind, message: "m" });
      const failing = { ...operator, status: () => ({ kind: "failed", failure }) as const };
      const { state } = observeJob({ operator: failing, job: failed, pods: [exited("c", 1, 0)], replaced }, options);
      return state.kind === "failed" ? state.failure.details.code : "";
    };
    expect([codeOf("SYSTEM"), codeOf("USER")]).toEqual(["OOMKilled", "Lost"]);
  });

  it("keeps the operator's text without such a pod", () => {
    expect(observe(failed, [pod("a", "Running")]).state).toMatchObject({ failure: { message: "Job failed:\n\tR - m" } });
  });
});
