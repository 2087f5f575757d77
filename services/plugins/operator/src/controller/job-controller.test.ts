import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { ContainerError_Kind, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { KubeError, type KubeObject } from "@flyte-ts/kubernetes";
import { ATTEMPT_ANNOTATION } from "@flyte-ts/pod-task";
import { decodeHeartbeat, type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { MemoryBus } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { manifest } from "../manifest.js";
import { OperatorWorld, OUTPUTS } from "../simulation/operator-world.js";

const logger = createLogger({ service: "test", level: "silent" });
const condition = (type: string, more: object = {}) => ({ type, status: "True", ...more });

describe("JobController", () => {
  let world: OperatorWorld;
  let bus: MemoryBus;
  let clock: ManualTime;
  let running: RunningPlugin;

  const start = async () => {
    running = await runPlugin({ plugin: world.plugin(clock), bus, logger, clock, random: () => 0.5 });
    await settlePromises();
  };
  const use = async (taskType: string) => {
    await running.stop();
    world = new OperatorWorld(taskType);
    bus = new MemoryBus();
    await start();
  };
  const send = async (desired: DesiredState, over: Partial<TaskRequest> = {}) => {
    const request = { ...world.request(), ...over, desired };
    await bus.send(taskRequestSubject(world.taskType, request.shard), toBinary(TaskRequestSchema, request));
    await settlePromises();
  };
  const told = () => bus.events.map(({ event }) => [Phase[event?.phase ?? 0], event?.reason]);
  const last = () => bus.events.at(-1);
  const error = () => {
    const result = last()?.event?.outputResult;
    return result?.case === "error" ? result.value : undefined;
  };
  const status = async (value: Record<string, never> | object) => {
    world.setStatus(world.request(), value as never);
    await settlePromises();
  };
  const podChange = () => clock.advance(200);
  const served = () => decodeHeartbeat(bus.ephemeral.at(-1)?.data ?? new Uint8Array())?.taskTypes;

  beforeEach(async () => {
    clock = new ManualTime();
    world = new OperatorWorld("pytorch");
    bus = new MemoryBus();
    await start();
  });
  afterEach(() => running.stop());

  it("reports a job from submission to success, with outputs by value", async () => {
    await send(DesiredState.RUN);
    await clock.advance(1);
    await status({ conditions: [condition("Created"), condition("Running")], startTime: "2026-01-01T00:00:00Z" });
    world.complete(world.request());
    world.store.blobs.set(`${world.request().outputPrefix}/outputs.pb`, OUTPUTS);
    await status({ conditions: [condition("Created"), condition("Succeeded")] });
    expect(told()).toEqual([
      ["QUEUED", "task submitted to K8s"],
      ["QUEUED", "JobCreated"],
      ["RUNNING", ""],
      ["SUCCEEDED", ""],
    ]);
    expect(last()?.outputs?.literals.o0?.hash).toBe("out");
    expect(last()?.event?.metadata?.pluginIdentifier).toBe("pytorch");
    expect(last()?.event?.customInfo).toMatchObject({ conditions: [{ type: "Created" }, { type: "Succeeded" }] });
  });

  it("puts the record of the attempt on the resource, and not on templates", async () => {
    await send(DesiredState.RUN);
    const job = world.job() as KubeObject & { readonly spec: object };
    expect(job.metadata.annotations?.[ATTEMPT_ANNOTATION]).toBeDefined();
    expect(JSON.stringify(job.spec)).not.toContain(ATTEMPT_ANNOTATION);
    expect(job.metadata.ownerReferences).toMatchObject([{ uid: world.request().owner?.uid, controller: true }]);
  });

  it.each([
    ["", () => Promise.resolve()],
    [" of an earlier process", () => running.stop().then(start)],
  ])("an abort waits for a creation without an answer%s", async (_, restart) => {
    world.api.faults.push("createLate");
    await send(DesiredState.RUN);
    await restart();
    await send(DesiredState.ABORT);
    expect(told().at(-1)?.[0]).not.toBe("ABORTED");
    await clock.advance(45_000);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
    expect(world.api.creations.get(world.keyOf())).toBe(1);
    expect(world.job()).toBeUndefined();
  });

  it("shortens names that KubeRay refuses, and finds the job again", async () => {
    await use("ray");
    const generatedName = "a1b2c3d4e5f6g7h8i9j0-n0-0-train-the-model-well-00";
    const request = { ...world.request(), generatedName };
    await send(DesiredState.RUN, { generatedName });
    await send(DesiredState.RUN, { generatedName });
    const name = world.nameOf(request);
    expect(name).toHaveLength(47);
    expect([...world.api.objects.keys()]).toEqual([`rayjobs/p-development/${name}`]);
    world.store.blobs.set(`${request.outputPrefix}/outputs.pb`, OUTPUTS);
    world.setStatus(request, { jobDeploymentStatus: "Complete" });
    await settlePromises();
    expect(last()?.event?.phase).toBe(Phase.SUCCEEDED);
    expect(last()?.event?.metadata?.generatedName).toBe(generatedName);
  });

  it.each<[string, KubeError, object]>([
    ["an invalid resource", new KubeError("spec.x: Invalid", { status: 422 }), { code: "BadTaskFormat" }],
    ["a forbidden one", new KubeError("denied by a webhook", { status: 403 }), { code: "RuntimeFailure" }],
    ["a large one", new KubeError("too large", { status: 413 }), { code: "EntityTooLarge" }],
  ])("reports %s", async (_, refusal, expected) => {
    world.api.createErrors.push(refusal);
    await send(DesiredState.RUN);
    expect(error()).toMatchObject(expected);
  });

  it("waits for an exhausted quota", async () => {
    world.api.createErrors.push(new KubeError("exceeded quota: q, requested: count/pytorchjobs=1, limited: 5", { status: 403 }));
    await send(DesiredState.RUN);
    expect(told().at(-1)?.[0]).toBe("WAITING_FOR_RESOURCES");
    await clock.advance(60_000);
    expect(world.job()).toBeDefined();
  });

  it("shows why pods do not start", async () => {
    await send(DesiredState.RUN);
    await status({ conditions: [condition("Created")] });
    const message = "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.";
    world.setPod("worker-0", {
      phase: "Pending",
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }],
    });
    await podChange();
    expect(told().at(-1)).toEqual(["QUEUED", `${world.nameOf()}-worker-0: Unschedulable:${message}`]);
  });

  it("fails for an image that cannot be pulled, after the grace period and when the job is gone", async () => {
    await send(DesiredState.RUN);
    await status({ conditions: [condition("Created")] });
    const lastTransitionTime = new Date(clock.now()).toISOString();
    world.setPod("worker-0", {
      phase: "Pending",
      state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } },
      conditions: [{ type: "Ready", status: "False", reason: "ContainersNotReady", message: "unready", lastTransitionTime }],
    });
    await podChange();
    expect(told().at(-1)?.[0]).toBe("INITIALIZING");
    await clock.advance(180_000);
    expect(world.job()?.metadata.deletionTimestamp).toBeDefined();
    expect(told().at(-1)?.[1]).toMatch(/Grace period \[3m0s\] exceeded.*; its job is being deleted$/);
    await clock.advance(2_000);
    expect(world.api.objects.size).toBe(0);
    expect(error()).toMatchObject({ code: "ContainersNotReady|ImagePullBackOff", message: expect.stringContaining("worker-0: Grace") });
    expect(last()?.failure).toMatchObject({ recoverable: true, cleanup: true });
  });

  it("names the kill for lack of memory that the operator only calls a failure", async () => {
    await send(DesiredState.RUN);
    await status({ conditions: [condition("Running")] });
    const state = { terminated: { exitCode: 137, reason: "OOMKilled", finishedAt: "2026-01-01T00:00:01Z" } };
    world.setPod("worker-0", { phase: "Failed", state });
    await status({ conditions: [condition("Failed", { reason: "PyTorchJobFailed", message: "1 Worker replica failed" })] });
    expect(error()?.code).toBe("OOMKilled");
    expect(error()?.message).toContain("Job failed:\n\tPyTorchJobFailed - 1 Worker replica failed");
  });

  it("stops workers that a failed job leaves running before it reports the failure", async () => {
    await send(DesiredState.RUN);
    world.setPod("master-0", { phase: "Running", state: { running: {} } });
    world.setPod("worker-0", { phase: "Failed", state: { terminated: { exitCode: 1, finishedAt: "2026-01-01T00:00:01Z" } } });
    await status({ conditions: [condition("Running")] });
    await status({ conditions: [condition("Failed", { reason: "PyTorchJobFailed", message: "failed" })] });
    expect(told().at(-1)?.[1]).toContain("1 of its pods still run");
    await clock.advance(2_000);
    expect(error()).toMatchObject({ code: "DownstreamSystemError" });
    expect([...world.api.objects.keys()]).toEqual([world.keyOf(), `pods/p-development/${world.nameOf()}-worker-0`]);
  });

  it("reports the failure of a job that is deleted while its workers are stopped", async () => {
    await send(DesiredState.RUN);
    world.setPod("master-0", { phase: "Running", state: { running: {} } });
    world.setPod("worker-0", { phase: "Failed", state: { terminated: { exitCode: 1, finishedAt: "2026-01-01T00:00:01Z" } } });
    await status({ conditions: [condition("Failed", { reason: "PyTorchJobFailed", message: "failed" })] });
    world.api.remove(world.keyOf());
    await settlePromises();
    expect(told().at(-1)?.[1]).toContain("its job is being deleted");
    expect(world.controller?.endingCount).toBe(1);
    await clock.advance(10_000);
    expect(world.controller?.endingCount).toBe(0);
    expect(error()).toMatchObject({ code: "DownstreamSystemError" });
    expect(told().filter(([phase]) => phase === "FAILED")).toHaveLength(1);
  });

  describe("a Ray job with a cluster", () => {
    const cluster = () => world.api.at("rayclusters/p-development/cluster-1");
    const end = (jobStatus: string) =>
      status({ jobDeploymentStatus: "Complete", rayClusterName: "cluster-1", jobStatus, message: "status 1" });

    beforeEach(async () => {
      await use("ray");
      await send(DesiredState.RUN);
      world.setPod("head-0", { phase: "Running", state: { running: {} }, labels: { "ray.io/node-type": "head" } });
      world.setPod("submitter", { phase: "Running", state: { running: {} } });
      world.addPart("rayclusters", "cluster-1", "head-0");
    });

    it("loses it before its failure is reported", async () => {
      await end("STOPPED");
      expect(told().at(-1)?.[1]).toContain("1 of its pods still run");
      expect(cluster()?.metadata.deletionTimestamp).toBeDefined();
      await clock.advance(2_000);
      expect(error()).toMatchObject({ code: "TaskFailedWithError", message: expect.stringContaining("status 1") });
      expect([...world.api.objects.keys()]).toEqual([world.keyOf(), `pods/p-development/${world.nameOf()}-submitter`]);
    });

    it("loses it also when the head is gone, which KubeRay would replace", async () => {
      world.setPod("head-0", { phase: "Failed", state: { terminated: { exitCode: 137, finishedAt: "2026-01-01T00:00:01Z" } } });
      await end("STOPPED");
      expect(told().at(-1)?.[0]).not.toBe("FAILED");
      await clock.advance(10_000);
      expect(cluster()).toBeUndefined();
      expect(told().at(-1)?.[0]).toBe("FAILED");
    });

    it("keeps it after its success", async () => {
      world.store.blobs.set(`${world.request().outputPrefix}/outputs.pb`, OUTPUTS);
      await end("SUCCEEDED");
      expect(told().at(-1)?.[0]).toBe("SUCCEEDED");
      await clock.advance(10_000);
      expect(cluster()).toMatchObject({ metadata: { name: "cluster-1" } });
      expect(cluster()?.metadata.deletionTimestamp).toBeUndefined();
    });
  });

  it("reports the earliest error that a worker wrote, whatever the operator says", async () => {
    await send(DesiredState.RUN);
    const document = (worker: string, seconds: number) =>
      toBinary(
        ErrorDocumentSchema,
        create(ErrorDocumentSchema, {
          error: {
            code: "USER:ValueError",
            message: `of ${worker}`,
            kind: ContainerError_Kind.RECOVERABLE,
            worker,
            timestamp: timestampFromDate(new Date(seconds * 1_000)),
          },
        }),
      );
    world.store.blobs.set(`${world.request().outputPrefix}/error-a.pb`, document("worker-1", 20));
    world.store.blobs.set(`${world.request().outputPrefix}/error-b.pb`, document("worker-0", 10));
    await status({ conditions: [condition("Succeeded")] });
    expect(error()).toMatchObject({ code: "USER:ValueError", message: "of worker-0", worker: "worker-0" });
  });

  it("reports a resource that another client deletes", async () => {
    await send(DesiredState.RUN);
    await status({ conditions: [condition("Running")] });
    world.api.remove(world.keyOf());
    await settlePromises();
    expect(error()).toMatchObject({ code: "ResourceDeletedExternally", kind: 2 });
    expect(last()?.failure?.recoverable).toBe(true);
  });

  it("does not start an attempt again whose resource is gone after a restart", async () => {
    await send(DesiredState.RUN);
    await running.stop();
    world.api.remove(world.keyOf());
    await start();
    await send(DesiredState.RUN, { knownPhase: Phase.RUNNING });
    expect(error()).toMatchObject({ code: "ResourceDeletedExternally" });
    expect(world.api.creations.get(world.keyOf())).toBe(1);
  });

  it("says that an operator does not act", async () => {
    await send(DesiredState.RUN);
    await clock.advance(60_000);
    expect(told().at(-1)).toEqual([
      "QUEUED",
      `no operator has acted on PyTorchJob p-development/${world.nameOf()} for 60 s: is the operator for PyTorchJob installed and running?`,
    ]);
  });

  it("an abort waits until the resource and its pods are gone", async () => {
    await send(DesiredState.RUN);
    world.setPod("worker-0", { phase: "Running", state: { running: {} } });
    await status({ conditions: [condition("Running")] });
    await send(DesiredState.ABORT);
    expect(told().at(-1)?.[0]).toBe("RUNNING");
    await clock.advance(10_000);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
    expect(world.api.objects.size).toBe(0);
  });

  it("an abort says what still exists after its timeout", async () => {
    await send(DesiredState.RUN);
    world.setPod("worker-0", { phase: "Running", state: { running: {} } });
    world.api.faults.push("deleteLost");
    const warnings = vi.spyOn(world.logger, "warn");
    await send(DesiredState.ABORT);
    await clock.advance(125_000);
    expect(warnings).toHaveBeenCalledWith(
      expect.objectContaining({ job: expect.stringContaining(world.nameOf()), exists: true, pods: [`${world.nameOf()}-worker-0`] }),
      "a job or its pods still exist 120 s after the deletion; are the operator for PyTorchJob and the nodes of the pods working?",
    );
    await clock.advance(60_000);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
  });

  it("links the logs of each pod by its role, and lists the pods as external resources", async () => {
    await send(DesiredState.RUN);
    const labels = { "training.kubeflow.org/replica-type": "worker", "training.kubeflow.org/replica-index": "1" };
    world.setPod("worker-1", { phase: "Running", state: { running: {} }, labels });
    await status({ conditions: [condition("Running")] });
    expect(last()?.event?.metadata?.externalResources).toMatchObject([
      { externalId: `${world.nameOf()}-worker-1`, phase: Phase.RUNNING, index: 0 },
    ]);
    expect(last()?.event?.logs).toMatchObject([{ uri: `https://logs/${world.nameOf()}-worker-1`, name: "Logs (Worker 1)" }]);
  });

  it("serves a kind while the cluster has it", async () => {
    expect(served()).toEqual(manifest.taskTypes);
    for (const plural of ["pytorchjobs", "tfjobs", "mpijobs"]) world.api.unserved.add(plural);
    // Requests to stop attempts are received for another minute.
    await clock.advance(130_000);
    expect(served()).toEqual(manifest.taskTypes.filter((type) => !["pytorch", "tensorflow", "mpi"].includes(type)));
    world.api.unserved.clear();
    await clock.advance(60_000);
    await clock.advance(10_000);
    const all = bus.ephemeral.slice(-manifest.taskTypes.length - 2).flatMap(({ data }) => decodeHeartbeat(data)?.taskTypes ?? []);
    expect(new Set(all)).toEqual(new Set(manifest.taskTypes));
  });

  it("fails an attempt whose kind vanishes with its job, and a retry waits until the cluster has the kind again", async () => {
    await send(DesiredState.RUN);
    await status({ conditions: [condition("Running")] });
    world.api.remove(world.keyOf());
    world.api.unserved.add("pytorchjobs");
    await clock.advance(60_000);
    expect(error()).toMatchObject({ code: "ResourceDeletedExternally" });
    await clock.advance(70_000);
    const retry = { ...world.request(), generatedName: `${world.request().generatedName}-retry` };
    await send(DesiredState.RUN, retry);
    expect([world.job(retry), bus.unacknowledged]).toEqual([undefined, 1]);
    world.api.unserved.clear();
    await clock.advance(60_000);
    await bus.redeliver();
    await clock.advance(1_000);
    expect([world.job(retry)?.metadata.name, bus.unacknowledged]).toEqual([world.nameOf(retry), 0]);
  });

  it("fails attempts within seconds when their kind vanishes and no event tells it", async () => {
    await send(DesiredState.RUN);
    await status({ conditions: [condition("Running")] });
    world.api.vanish("pytorchjobs");
    await clock.advance(4_000);
    expect(error()).toBeUndefined();
    await clock.advance(10_000);
    expect(error()).toMatchObject({ code: "ResourceDeletedExternally" });
  });

  it("keeps attempts whose kind is away for a moment", async () => {
    await send(DesiredState.RUN);
    await status({ conditions: [condition("Running")] });
    world.api.unserved.add("pytorchjobs");
    await clock.advance(62_000);
    world.api.unserved.clear();
    await clock.advance(120_000);
    expect([told().at(-1)?.[0], world.job()?.metadata.name]).toEqual(["RUNNING", world.nameOf()]);
  });

  it.each([
    [2_000, "ABORTED"],
    [30_000, "FAILED"],
  ])("ends an abort %i ms after the kind has vanished", async (ms, phase) => {
    await send(DesiredState.RUN);
    await status({ conditions: [condition("Running")] });
    // Creations of an earlier process have taken effect by then.
    await clock.advance(60_000);
    world.api.vanish("pytorchjobs");
    await clock.advance(ms);
    await send(DesiredState.ABORT);
    await clock.advance(10_000);
    expect([told().at(-1)?.[0], bus.unacknowledged]).toEqual([phase, 0]);
  });

  it("makes no calls for jobs that run", async () => {
    await send(DesiredState.RUN);
    await status({ conditions: [condition("Running")] });
    const before = new Map(world.api.calls);
    for (let i = 0; i < 10; i++) {
      world.setPod(`worker-${i}`, { phase: "Running", state: { running: {} } });
      await clock.advance(1_000);
    }
    expect(world.api.calls).toEqual(before);
  });
});
