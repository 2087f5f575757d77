import { describe, expect, it } from "vitest";
import type { ContainerState, ContainerStatus, Pod, PodCondition, PodStatus } from "../pod-types.js";
import { derivePodState } from "./derive-pod-state.js";

const now = new Date("2026-01-02T03:10:00Z");
const MINUTE = 60_000;
const graces = { createContainerErrorMs: 3 * MINUTE, createContainerConfigErrorMs: 0, imagePullBackOffMs: 3 * MINUTE, podPendingMs: 0 };
const ago = (ms: number) => new Date(now.getTime() - ms).toISOString();

function pod(status: PodStatus, over: { primary?: string | null; metadata?: object; containers?: string[] } = {}): Pod {
  const { primary = "main", metadata = {}, containers = ["main"] } = over;
  return {
    metadata: {
      name: "x-n0-0",
      namespace: "p-d",
      ...(primary === null ? {} : { annotations: { primary_container_name: primary } }),
      ...metadata,
    },
    spec: { containers: containers.map((name) => ({ name })) },
    status,
  };
}

const at = (kind: Record<string, unknown>) => JSON.parse(JSON.stringify(kind)) as Record<string, unknown>;
function look(given: Pod, over: Partial<typeof graces> = {}): Record<string, unknown> {
  const decision = derivePodState(given, { gracePeriods: { ...graces, ...over }, now });
  if (decision.kind !== "failed") return at({ ...decision, occurredAt: undefined });
  const { failure } = decision;
  return at({ recoverable: failure.recoverable, ...failure.details });
}

const container = (state: ContainerState, name = "main") => ({ name, ready: false, state });
const exited = (exitCode: number, reason = "Error", message = "tail") => ({
  terminated: { exitCode, reason, message, finishedAt: ago(1_000) },
});
const unready = (sinceMs: number): PodCondition => ({
  type: "Ready",
  status: "False",
  reason: "ContainersNotReady",
  message: "containers with unready status: [main]",
  lastTransitionTime: ago(sinceMs),
});
const pending = (reason: string | undefined, sinceMs = 0, message = "why"): PodStatus => ({
  phase: "Pending",
  conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: ago(sinceMs) }, unready(sinceMs)],
  containerStatuses: [container({ waiting: { ...(reason === undefined ? {} : { reason }), message } })],
});
const told = "\r\n[main] terminated with exit code (3). Reason [Error]. Message: \ntail.";

describe("a pending pod", () => {
  it("without conditions has no state to report", () => {
    expect(look(pod({ phase: "Pending" }))).toEqual({ kind: "waiting" });
    expect(look(pod({}))).toEqual({ kind: "waiting" });
  });

  it("is QUEUED with the scheduler's reason while it cannot be scheduled", () => {
    const conditions = [
      { type: "PodScheduled", status: "False", reason: "Unschedulable", message: "0/1 nodes are available", lastTransitionTime: ago(5) },
    ];
    expect(look(pod({ phase: "Pending", conditions }))).toEqual({
      kind: "progress",
      phase: "QUEUED",
      reason: "Unschedulable:0/1 nodes are available",
    });
  });

  it.each(["ErrImagePull", "ContainerCreating", "PodInitializing", undefined])(
    "is initializing while its container waits with %s",
    (reason) => {
      expect(look(pod(pending(reason, 60 * MINUTE, "")))).toEqual({
        kind: "progress",
        phase: "INITIALIZING",
        reason: `[ContainersNotReady|${reason ?? ""}]: containers with unready status: [main]|`,
      });
    },
  );

  it.each([
    ["CreateContainerError", false, 3 * MINUTE, "3m0s"],
    ["ImagePullBackOff", true, 3 * MINUTE, "3m0s"],
    ["CreateContainerConfigError", false, 0, "0s"],
  ])("%s fails after its grace period", (reason, recoverable, grace, text) => {
    expect(look(pod(pending(reason, grace)))).toEqual({
      recoverable,
      code: `ContainersNotReady|${reason}`,
      message: `Grace period [${text}] exceeded|containers with unready status: [main]|why`,
      kind: "USER",
      cleanup: true,
    });
  });

  it.each(["CreateContainerError", "ImagePullBackOff"])("with %s is INITIALIZING within the grace period", (reason) => {
    expect(look(pod(pending(reason, 3 * MINUTE - 1_000)))).toEqual({
      kind: "progress",
      phase: "INITIALIZING",
      reason: `[ContainersNotReady|${reason}]: containers with unready status: [main]|why`,
      recheckAt: new Date(now.getTime() + 1_000).toISOString(),
    });
  });

  it("with an invalid image name fails permanently at once", () => {
    expect(look(pod(pending("InvalidImageName")))).toEqual({
      recoverable: false,
      code: "ContainersNotReady|InvalidImageName",
      message: "containers with unready status: [main]|why",
      kind: "USER",
      cleanup: true,
    });
  });

  it("with any other waiting reason fails with kind SYSTEM", () => {
    expect(look(pod(pending("RunContainerError")))).toMatchObject({
      recoverable: true,
      kind: "SYSTEM",
      code: "ContainersNotReady|RunContainerError",
      cleanup: true,
    });
  });

  it("fails for the image of an init container as well", () => {
    const status = {
      ...pending("PodInitializing", 10 * MINUTE),
      initContainerStatuses: [container({ waiting: { reason: "ImagePullBackOff", message: "no" } }, "setup")],
    };
    expect(look(pod(status))).toMatchObject({ code: "ContainersNotReady|ImagePullBackOff", recoverable: true });
  });

  it("fails when it is pending longer than the configured limit", () => {
    const limit = { podPendingMs: 5 * MINUTE };
    expect(look(pod(pending("ContainerCreating", 5 * MINUTE)), limit)).toMatchObject({
      code: "PodPendingTimeout",
      recoverable: true,
      kind: "SYSTEM",
      cleanup: true,
    });
    expect(look(pod(pending("ContainerCreating", 4 * MINUTE)), limit)).toMatchObject({
      kind: "progress",
      recheckAt: new Date(now.getTime() + MINUTE).toISOString(),
    });
    expect(look(pod({ phase: "Pending" }, { metadata: { creationTimestamp: ago(4 * MINUTE) } }), limit)).toMatchObject({
      phase: "QUEUED",
      recheckAt: expect.any(String),
    });
  });
});

describe("a pod that terminated before it was reported as running", () => {
  it.each([
    [exited(0, "Completed"), { kind: "succeeded" }],
    [exited(3), { kind: "USER", code: "Error" }],
  ])("has ended with its primary container: %j", (state, expected) => {
    const status = { ...pending("ContainerCreating"), containerStatuses: [container(state)] };
    expect(look(pod(status))).toMatchObject(expected);
    expect(look(pod(status, { primary: null }))).toEqual({ kind: "waiting" });
  });
});

describe("a running pod", () => {
  const running = (...containerStatuses: ReturnType<typeof container>[]): PodStatus => ({ phase: "Running", containerStatuses });

  it("is RUNNING while its primary container runs or starts", () => {
    for (const state of [{ running: { startedAt: ago(5) } }, { waiting: { reason: "ContainerCreating" } }]) {
      expect(look(pod(running(container(state))))).toEqual({ kind: "progress", phase: "RUNNING" });
    }
    expect(look(pod(running()))).toEqual({ kind: "progress", phase: "RUNNING" });
  });

  it("succeeds with its primary container, whatever the others do", () => {
    expect(look(pod(running(container(exited(0, "Completed")), container({ running: {} }, "sidecar"))))).toEqual({ kind: "succeeded" });
  });

  it("fails with kind USER for an exit code, with the tail of the log", () => {
    expect(look(pod(running(container(exited(3)))))).toEqual({ recoverable: true, code: "Error", message: told, kind: "USER" });
  });

  it.each([137, 247])("fails with kind SYSTEM for exit code %i of SIGKILL", (code) => {
    expect(look(pod(running(container(exited(code)))))).toMatchObject({ recoverable: true, code: "Interrupted", kind: "SYSTEM" });
  });

  it("fails with kind USER when it ran out of memory", () => {
    expect(look(pod(running(container(exited(137, "OOMKilled")))))).toMatchObject({ recoverable: true, code: "OOMKilled", kind: "USER" });
    // The kernel killed another process of the container than the first.
    const message = "\r\n[main] terminated with ExitCode 0. A process in it was killed: OOMKilled.";
    expect(look(pod(running(container(exited(0, "OOMKilled")))))).toMatchObject({ code: "OOMKilled", kind: "USER", message });
  });

  it("fails when its primary container does not exist", () => {
    const lost = pod(running(container({ running: {} }, "other")), { containers: ["other"] });
    expect(look(lost)).toMatchObject({ recoverable: false, code: "PrimaryContainerNotFound" });
    expect(look(pod(running(container({ running: {} }, "other"))))).toEqual({ kind: "progress", phase: "RUNNING" });
  });

  it("without a primary container succeeds when all containers have", () => {
    const done = container(exited(0, "Completed"), "a");
    const status = running(done, container(exited(0, "Completed"), "b"));
    expect(look(pod(status, { primary: null }))).toEqual({ kind: "succeeded" });
    expect(look(pod({ ...status, initContainerStatuses: [container({ running: {} }, "uploader")] }, { primary: null }))).toMatchObject({
      phase: "RUNNING",
    });
    expect(look(pod(running(done, container(exited(1), "b")), { primary: null }))).toMatchObject({ phase: "RUNNING" });
    expect(look(pod(running(), { primary: null }))).toMatchObject({ phase: "RUNNING" });
  });

  it("fails with kind SYSTEM if another client deletes it", () => {
    const metadata = { deletionTimestamp: ago(0) };
    const failure = {
      recoverable: true,
      code: "UnexpectedObjectDeletion",
      kind: "SYSTEM",
      message: "object [p-d/x-n0-0] terminated in the background, manually",
    };
    expect(look(pod(running(container({ running: {} })), { metadata }))).toEqual(failure);
    expect(look(pod({ phase: "Pending" }, { metadata }))).toEqual(failure);
    expect(look(pod(running(container(exited(0))), { metadata }))).toEqual({ kind: "succeeded" });
  });

  it("counts as missing after a deletion without grace period, unless it has finalizers", () => {
    const metadata = { deletionTimestamp: ago(0), deletionGracePeriodSeconds: 0 };
    const status = running(container({ running: {} }));
    expect(look(pod(status, { metadata }))).toEqual({
      recoverable: true,
      code: "ResourceDeletedExternally",
      kind: "SYSTEM",
      message: 'resource not found, name [p-d/x-n0-0]. reason: pods "x-n0-0" not found',
    });
    for (const held of [{ deletionGracePeriodSeconds: 30 }, { finalizers: ["flyte.org/finalizer-k8s"] }]) {
      expect(look(pod(status, { metadata: { ...metadata, ...held } }))).toMatchObject({ code: "UnexpectedObjectDeletion" });
    }
  });
});

describe("a terminated pod", () => {
  const failed = (over: PodStatus = {}): PodStatus => ({ phase: "Failed", ...over });

  it("succeeds unless a container ran out of memory", () => {
    expect(look(pod({ phase: "Succeeded", containerStatuses: [container(exited(0, "Completed"))] }))).toEqual({ kind: "succeeded" });
    expect(look(pod({ phase: "Succeeded", containerStatuses: [container(exited(0, "OOMKilled"))] }))).toMatchObject({
      code: "OOMKilled",
      kind: "USER",
      recoverable: true,
    });
  });

  it("fails in the same way as when its container status is observed first", () => {
    for (const state of [exited(3), exited(137), exited(137, "OOMKilled")]) {
      const status = { containerStatuses: [container(state)] };
      expect(look(pod(failed(status)))).toEqual(look(pod({ phase: "Running", ...status })));
    }
    expect(look(pod(failed({ containerStatuses: [container(exited(0))] })))).toEqual({ kind: "succeeded" });
  });

  it.each(["Shutdown", "Terminated", "NodeShutdown", "NodeAffinity"])("is interrupted by its node: %s", (reason) => {
    const expected = { recoverable: true, code: "Interrupted", kind: "SYSTEM" };
    expect(look(pod(failed({ reason, message: "node" })))).toMatchObject({ ...expected, message: "node" });
    expect(look(pod(failed({ reason, message: "node", containerStatuses: [container(exited(3))] })))).toMatchObject({
      ...expected,
      message: `node${told}`,
    });
  });

  it.each(["Evicted", "Preempting"])("fails with kind SYSTEM for the reason %s", (reason) => {
    expect(look(pod(failed({ reason, message: "low on memory" })))).toEqual({
      recoverable: true,
      code: reason,
      kind: "SYSTEM",
      message: "low on memory",
    });
  });

  it("fails with kind USER for other reasons of Kubernetes", () => {
    expect(look(pod(failed({ reason: "DeadlineExceeded", message: "too long" })))).toMatchObject({
      code: "DeadlineExceeded",
      kind: "USER",
      recoverable: true,
      message: "too long",
    });
  });

  it("fails with kind SYSTEM without any container status", () => {
    expect(look(pod(failed()))).toMatchObject({
      code: "Interrupted",
      kind: "SYSTEM",
      message: "Pod failed. No message received from kubernetes.",
    });
  });

  it("without a primary container fails for the failed one and describes all", () => {
    const status = failed({ containerStatuses: [container(exited(0, "Completed"), "a"), container(exited(3), "main")] });
    expect(look(pod(status, { primary: null }))).toMatchObject({
      code: "Error",
      kind: "USER",
      message: `\r\n[a] terminated with ExitCode 0.${told}`,
    });
    expect(look(pod(failed({ containerStatuses: [container(exited(137), "a")] }), { primary: null }))).toMatchObject({
      code: "Interrupted",
      kind: "SYSTEM",
    });
  });

  it("fails for a failed init container", () => {
    const status = failed({
      initContainerStatuses: [container(exited(3), "main")],
      containerStatuses: [container({ waiting: { reason: "PodInitializing" } })],
    });
    expect(look(pod(status))).toMatchObject({ code: "Error", kind: "USER", message: told });
  });

  describe("a pod that the cluster disrupts", () => {
    const why = "Taint manager: deleting due to NoExecute taint";
    const target = { type: "DisruptionTarget", status: "True", reason: "DeletionByTaintManager", message: why };
    const running = (status: ContainerStatus): PodStatus => ({ phase: "Running", containerStatuses: [status] });
    const deleted = { deletionTimestamp: ago(0), deletionGracePeriodSeconds: 30 };

    it("fails with the message of the disruption", () => {
      expect(look(pod({ ...running(container({ running: {} })), conditions: [target] }, { metadata: deleted }))).toMatchObject({
        code: "UnexpectedObjectDeletion",
        kind: "SYSTEM",
        message: `object [p-d/x-n0-0] terminated in the background: ${why}`,
      });
      // As the pod garbage collector leaves a pod whose node is gone: the ends of its containers
      // are unknown.
      const lost = {
        containerStatuses: [container({ running: {} })],
        conditions: [{ ...target, message: "PodGC: node no longer exists" }],
      };
      expect(look(pod(failed(lost)))).toMatchObject({ code: "Interrupted", kind: "SYSTEM", message: "PodGC: node no longer exists" });
    });

    it("ignores the exit code of a container that the disruption stopped", () => {
      const status = running(container(exited(143)));
      expect(look(pod({ ...status, conditions: [target] }))).toMatchObject({
        code: "Interrupted",
        kind: "SYSTEM",
        message: `${why}${told.replace("(3)", "(143)")}`,
      });
      expect(look(pod(status, { metadata: deleted }))).toMatchObject({ code: "UnexpectedObjectDeletion", kind: "SYSTEM" });
      expect(look(pod({ ...status, conditions: [{ ...target, status: "False" }] }))).toMatchObject({ code: "Error", kind: "USER" });
    });

    it("keeps the result of a container that exited before the disruption", () => {
      const later = { ...deleted, deletionTimestamp: ago(-30_000) };
      expect(look(pod(running(container(exited(3))), { metadata: later }))).toMatchObject({ code: "Error", kind: "USER" });
      expect(look(pod(running(container(exited(137, "OOMKilled"))), { metadata: deleted }))).toMatchObject({ code: "OOMKilled" });
      expect(look(pod(running(container(exited(0))), { metadata: deleted }))).toEqual({ kind: "succeeded" });
    });
  });
});
