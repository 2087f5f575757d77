import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskMetadataSchema, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { KubeError, type KubeObject, PODS } from "@flyte-ts/kubernetes";
import { CREATION_SETTLES_WITHIN_MS } from "@flyte-ts/pod-task/creations";
import { attemptKey, type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { MemoryBus, pluginConformance } from "@flyte-ts/task-plugin/harness";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { config, logger, outputs, podRequest, PodWorld } from "./simulation/pod-world.js";

const key = attemptKey(podRequest());

describe("the pod plugin passes the conformance cases", () => {
  it.each(pluginConformance(() => new PodWorld({ creationSettlesWithinMs: 0 })))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe("PodController", () => {
  let world: PodWorld;
  let bus: MemoryBus;
  let clock: ManualTime;
  let running: RunningPlugin;

  const start = async () => {
    running = await runPlugin({ plugin: world.plugin(clock), bus, logger, clock, random: () => 0.5 });
    await settlePromises();
  };
  const send = async (desired: DesiredState, over: Partial<TaskRequest> = {}) => {
    const request = { ...podRequest(), ...over, desired };
    await bus.send(taskRequestSubject("python-task", request.shard), toBinary(TaskRequestSchema, request));
    await settlePromises();
  };
  const told = () => bus.events.map(({ event }) => [Phase[event?.phase ?? 0], event?.reason]);
  const last = () => bus.events.at(-1);
  const error = () => {
    const result = last()?.event?.outputResult;
    return result?.case === "error" ? { code: result.value.code, kind: result.value.kind, message: result.value.message } : undefined;
  };
  const run = () => world.cluster.setPodStatus(key, "Running", { state: { running: { startedAt: new Date(clock.now()).toISOString() } } });

  beforeEach(async () => {
    world = new PodWorld();
    bus = new MemoryBus();
    clock = new ManualTime();
    await start();
  });
  afterEach(() => running.stop());

  it("aborts all attempts of a resource by its uid, and no others", async () => {
    const owner = podRequest().owner;
    const beside = podRequest({ generatedName: "beside-n0-0", workflowKey: "p-development/beside", namespace: "p-development" });
    if (beside.owner !== undefined) beside.owner = { ...beside.owner, uid: "other" };
    await send(DesiredState.RUN);
    run();
    await bus.send(taskRequestSubject("python-task", 7), toBinary(TaskRequestSchema, beside));
    await settlePromises();
    // A pod of another propeller, without a record of its attempt.
    const metadata = { name: "foreign", namespace: "p-development", labels: {}, ownerReferences: [{ ...owner }] } as KubeObject["metadata"];
    await world.cluster.create(PODS, { apiVersion: "v1", kind: "Pod", metadata, spec: { containers: [{ name: "c" }] } } as KubeObject);
    await settlePromises();
    const before = bus.events.length;
    const request = create(TaskRequestSchema, { desired: DesiredState.ABORT_ALL, workflowKey: podRequest().workflowKey, owner, shard: 7 });
    await bus.send(taskRequestSubject("python-task", 7), toBinary(TaskRequestSchema, request));
    await clock.advance(60_000);
    // Creations of an earlier process may still take effect until now.
    await bus.redeliver();
    await settlePromises();
    expect([...world.cluster.pods.keys()]).toEqual(["p-development/beside-n0-0"]);
    const told = bus.events.slice(before).map(({ event }) => [event?.metadata?.generatedName, Phase[event?.phase ?? 0]]);
    expect(told).toEqual([[podRequest().generatedName, "ABORTED"]]);
    expect(bus.unacknowledged).toBe(0);
  });

  it("reports an attempt from submission to success, with outputs by value", async () => {
    await send(DesiredState.RUN);
    run();
    await settlePromises();
    world.store.blobs.set(`${podRequest().outputPrefix}/outputs.pb`, outputs);
    world.cluster.setPodStatus(key, "Running", { state: { terminated: { exitCode: 0, finishedAt: new Date(clock.now()).toISOString() } } });
    await settlePromises();
    expect(told()).toEqual([
      ["QUEUED", "task submitted to K8s"],
      ["RUNNING", ""],
      ["SUCCEEDED", ""],
    ]);
    expect(last()?.outputs?.literals.o0?.hash).toBe("out");
    expect(last()?.event?.metadata?.pluginIdentifier).toBe("container");
  });

  it("reports the submission first, even if the watch delivers RUNNING before the create call returns", async () => {
    const create = world.cluster.create.bind(world.cluster);
    world.cluster.create = async (ref, object) => {
      const pod = await create(ref, object);
      run();
      await settlePromises();
      return pod as never;
    };
    await send(DesiredState.RUN);
    await clock.advance(10);
    expect(told()).toEqual([
      ["QUEUED", "task submitted to K8s"],
      ["RUNNING", ""],
    ]);
  });

  it("writes the inputs before it creates the pod, unless they exist", async () => {
    await send(DesiredState.RUN);
    const written = world.store.blobs.get(podRequest().inputUri);
    expect(fromBinary(LiteralMapSchema, written ?? new Uint8Array()).literals.a?.hash).toBe("in");
    expect(world.cluster.pod?.spec.containers[0]?.args).toEqual(["run", podRequest().inputUri]);
  });

  it("creates no pod while the inputs cannot be written, and publishes the reason", async () => {
    world.store.unavailable = true;
    await send(DesiredState.RUN);
    expect(world.cluster.pods.size).toBe(0);
    expect(told()).toEqual([["QUEUED", expect.stringContaining("the blob store is unavailable")]]);
    world.store.unavailable = false;
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["QUEUED", "task submitted to K8s"]);
  });

  it("a new process reports a terminated pod without a request", async () => {
    await send(DesiredState.RUN);
    await running.stop();
    world.complete(podRequest());
    await start();
    expect(told().at(-1)).toEqual(["SUCCEEDED", ""]);
    expect(last()?.nodePath).toBe("n0");
    expect(last()?.event?.inputValue).toEqual({ case: "inputUri", value: podRequest().inputUri });
  });

  it("a new process does not report pods that terminated long before its start", async () => {
    await send(DesiredState.RUN);
    world.complete(podRequest());
    await settlePromises();
    await running.stop();
    bus.published.length = 0;
    await clock.advance(config.tellEndsOfMs + 1);
    await start();
    expect(told()).toEqual([]);
    world.cluster.deletePodExternally(key);
    await settlePromises();
    expect(told()).toEqual([]);
  });

  it("a pod that another client deletes fails with kind SYSTEM", async () => {
    await send(DesiredState.RUN);
    run();
    await settlePromises();
    world.cluster.deletePodExternally(key);
    await settlePromises();
    expect(error()).toEqual({
      code: "ResourceDeletedExternally",
      kind: 2,
      message: `resource not found, name [${key}]. reason: pods "${podRequest().generatedName}" not found`,
    });
    expect(last()?.failure?.recoverable).toBe(true);
  });

  it("a pod that was deleted while the service was down fails with kind SYSTEM and is not recreated", async () => {
    await send(DesiredState.RUN);
    const pluginState = last()?.pluginState ?? new Uint8Array();
    await running.stop();
    world.cluster.deletePodExternally(key);
    await start();
    await send(DesiredState.RUN, { pluginState, knownPhase: Phase.QUEUED });
    expect(error()?.code).toBe("ResourceDeletedExternally");
    expect(world.cluster.creations.get(key)).toBe(1);
  });

  it("a pod of the same name with another owner is left unchanged", async () => {
    await send(DesiredState.RUN);
    await running.stop();
    await start();
    const owner = { ...podRequest().owner, uid: "another" } as TaskRequest["owner"];
    await send(DesiredState.RUN, { owner });
    expect(error()).toMatchObject({ code: "PodNameTaken", kind: 2 });
    await send(DesiredState.FINALIZE, { owner, deleteResources: true });
    expect(world.cluster.pods.size).toBe(1);
  });

  it("an attempt of another execution with the name of a deleted one runs anew and is reported", async () => {
    const { owner } = podRequest();
    const later = { owner: owner && { ...owner, uid: "later" } };
    const start = async (over: Partial<TaskRequest>) => {
      await send(DesiredState.RUN, over);
      run();
      await settlePromises();
    };
    await start({});
    world.complete(podRequest());
    await settlePromises();
    await send(DesiredState.FINALIZE);
    world.cluster.deletePodExternally(key);
    await settlePromises();
    expect(told().map(([phase]) => phase)).toEqual(["QUEUED", "RUNNING", "SUCCEEDED"]);
    await start(later);
    expect([
      world.cluster.creations.get(key),
      told()
        .slice(3)
        .map(([phase]) => phase),
    ]).toEqual([2, ["QUEUED", "RUNNING"]]);
    world.complete(podRequest());
    await settlePromises();
    expect(told().at(-1)?.[0]).toBe("SUCCEEDED");
  });

  it("an attempt that takes the name of one that still runs starts once the pod of that one is gone", async () => {
    const { owner } = podRequest();
    await send(DesiredState.RUN);
    run();
    await settlePromises();
    const uid = world.cluster.pod?.metadata.uid;
    const before = told().length;
    await send(DesiredState.RUN, { owner: owner && { ...owner, uid: "later" } });
    await clock.advance(60_000);
    expect([world.cluster.pods.size, world.cluster.creations.get(key)]).toEqual([1, 2]);
    expect(world.cluster.pod?.metadata).toMatchObject({ ownerReferences: [{ uid: "later" }] });
    expect(world.cluster.pod?.metadata.uid).not.toBe(uid);
    expect(
      new Set(
        told()
          .slice(before)
          .map(([phase]) => phase),
      ),
    ).toEqual(new Set(["QUEUED"]));
  });

  it("an abort deletes the pod with a short grace period and reports ABORTED when it is gone", async () => {
    await send(DesiredState.RUN);
    run();
    await settlePromises();
    await send(DesiredState.ABORT);
    expect(told().at(-1)?.[0]).toBe("RUNNING");
    await clock.advance(1_000);
    expect(world.cluster.pods.size).toBe(0);
    expect(told().at(-1)).toEqual(["ABORTED", ""]);
    expect(told().filter(([phase]) => phase === "FAILED")).toEqual([]);
  });

  it.each([
    ["", () => Promise.resolve()],
    [" of an earlier process", () => running.stop().then(start)],
  ])("an abort waits for a creation without an answer%s", async (_, restart) => {
    world.cluster.faults.push("createLate");
    await send(DesiredState.RUN);
    await restart();
    await send(DesiredState.ABORT);
    expect(told().at(-1)?.[0]).not.toBe("ABORTED");
    await clock.advance(45_000);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
    expect(world.cluster.creations.get(key)).toBe(1);
    expect(world.cluster.pods.size).toBe(0);
  });

  it("an ended pod is kept while a second creation of it may take effect", async () => {
    world.cluster.faults.push("createLate");
    await send(DesiredState.RUN);
    await send(DesiredState.RUN);
    world.complete(podRequest());
    await settlePromises();
    await send(DesiredState.FINALIZE, { deleteResources: true });
    await clock.advance(45_000);
    expect(world.cluster.creations.get(key)).toBe(1);
    await bus.redeliver();
    await settlePromises();
    expect(world.cluster.pods.size).toBe(0);
    expect(bus.unacknowledged).toBe(0);
  });

  it("after a restart, an ended pod is deleted only when no earlier creation can take effect", async () => {
    await send(DesiredState.RUN);
    world.complete(podRequest());
    await settlePromises();
    await send(DesiredState.FINALIZE, { deleteResources: true });
    expect(bus.unacknowledged).toBe(0);
    await clock.advance(CREATION_SETTLES_WITHIN_MS - 1);
    expect(world.cluster.pods.size).toBe(1);
    await clock.advance(1);
    expect(world.cluster.pods.size).toBe(0);
  });

  it("a pod that an earlier process creates after the abort is deleted before its containers start", async () => {
    await send(DesiredState.RUN);
    const { pod } = world.cluster;
    await send(DesiredState.ABORT);
    await clock.advance(1_000);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
    const events = bus.events.length;
    await world.cluster.create(PODS, { ...pod, status: undefined } as KubeObject);
    await clock.advance(2_000);
    expect(world.cluster.pods.size).toBe(0);
    expect(world.startCount(podRequest())).toBe(0);
    expect(bus.events).toHaveLength(events);
  });

  it("all attempts of a resource include those whose creation has no answer", async () => {
    await clock.advance(60_000);
    world.cluster.faults.push("createLate");
    await send(DesiredState.RUN);
    const { workflowKey, owner } = podRequest();
    const request = create(TaskRequestSchema, { desired: DesiredState.ABORT_ALL, workflowKey, owner, shard: 7 });
    await bus.send(taskRequestSubject("python-task", 7), toBinary(TaskRequestSchema, request));
    await clock.advance(60_000);
    await bus.redeliver();
    await settlePromises();
    expect(world.cluster.pods.size).toBe(0);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
    expect(bus.unacknowledged).toBe(0);
  });

  it("an abort is retried while the pod still exists", async () => {
    await send(DesiredState.RUN);
    run();
    await settlePromises();
    world.cluster.deletionHangs = true;
    await send(DesiredState.ABORT);
    await clock.advance(120_000);
    expect(told().at(-1)?.[0]).toBe("RUNNING");
    world.cluster.deletePodExternally(key);
    await clock.advance(30_000);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
  });

  it("an abort reports the result of a pod that terminated before", async () => {
    await send(DesiredState.RUN);
    await running.stop();
    world.complete(podRequest());
    bus.published.length = 0;
    world.cluster.unavailable = true;
    await start();
    // An abort needs only the attempt's names.
    await send(DesiredState.ABORT, {
      owner: undefined,
      inputUri: "",
      outputPrefix: "",
      template: create(TaskTemplateSchema, { type: "python-task" }),
    });
    world.cluster.unavailable = false;
    await clock.advance(30_000);
    expect(told()).toEqual([["SUCCEEDED", ""]]);
    expect(last()?.outputs?.literals.o0?.hash).toBe("out");
    expect(world.cluster.pods.size).toBe(1);
  });

  it.each([
    [true, 0],
    [false, 1],
  ])("keeps or deletes the pod at FINALIZE as propeller requests (%s)", async (deleteResources, left) => {
    await clock.advance(CREATION_SETTLES_WITHIN_MS);
    await send(DesiredState.RUN);
    world.complete(podRequest());
    await settlePromises();
    await send(DesiredState.FINALIZE, { deleteResources });
    expect(world.cluster.pods.size).toBe(left);
    expect(told().at(-1)?.[0]).toBe("SUCCEEDED");
  });

  it("waits while the quota is exhausted and publishes the reason", async () => {
    const message = 'pods "x" is forbidden: exceeded quota: q, requested: limits.cpu=500m, used: limits.cpu=2, limited: limits.cpu=2';
    world.cluster.createErrors.push(new KubeError(message, { status: 403, reason: "Forbidden" }));
    await send(DesiredState.RUN);
    expect(told()).toEqual([["WAITING_FOR_RESOURCES", `Exceeded resourcequota: ${message}`]]);
    expect(bus.unacknowledged).toBe(0);
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["QUEUED", "task submitted to K8s"]);
  });

  it("waits for the default service account of a new namespace", async () => {
    const message = 'pods "x" is forbidden: error looking up service account p-d/default: serviceaccount "default" not found';
    world.cluster.createErrors.push(new KubeError(message, { status: 403, reason: "Forbidden" }));
    await send(DesiredState.RUN);
    expect(told()).toEqual([["QUEUED", expect.stringContaining(message)]]);
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["QUEUED", "task submitted to K8s"]);
  });

  it.each([
    {
      what: "a pod that exceeds the whole quota",
      status: 403,
      message: "forbidden: exceeded quota: q, requested: limits.cpu=7, used: limits.cpu=0, limited: limits.cpu=2",
      code: "ResourceRequestsExceedLimits",
      recoverable: false,
    },
    { what: "a forbidden pod", status: 403, message: "forbidden: no", code: "RuntimeFailure", recoverable: true },
    { what: "an invalid pod", status: 422, message: "image: Required value", code: "BadTaskFormat", recoverable: false },
    { what: "a pod that an admission webhook refuses", status: 400, message: "denied", code: "BadTaskFormat", recoverable: false },
    { what: "a pod that is too large", status: 413, message: "too large", code: "EntityTooLarge", recoverable: false },
  ])("fails for $what", async ({ status, message, code, recoverable }) => {
    world.cluster.createErrors.push(new KubeError(message, { status }));
    await send(DesiredState.RUN);
    expect(error()?.code).toBe(code);
    expect(error()?.message).toContain(message);
    expect(last()?.failure?.recoverable).toBe(recoverable);
  });

  it("creates the pod after an outage of Kubernetes and publishes the reason for the delay", async () => {
    world.cluster.unavailable = true;
    await send(DesiredState.RUN);
    expect(told()).toEqual([["QUEUED", expect.stringContaining("the Kubernetes API is unavailable: connect ECONNREFUSED")]]);
    world.cluster.unavailable = false;
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["QUEUED", "task submitted to K8s"]);
  });

  it("an image that cannot be pulled fails after the grace period and requests cleanup", async () => {
    await send(DesiredState.RUN);
    const lastTransitionTime = new Date(clock.now()).toISOString();
    const condition = { type: "Ready", status: "False", reason: "ContainersNotReady", message: "unready", lastTransitionTime };
    world.cluster.setPodStatus(key, "Pending", {
      state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } },
      conditions: [condition],
    });
    await settlePromises();
    expect(told().at(-1)).toEqual(["INITIALIZING", "[ContainersNotReady|ImagePullBackOff]: unready|no such image"]);
    await clock.advance(180_000);
    expect(error()?.code).toBe("ContainersNotReady|ImagePullBackOff");
    expect(last()?.failure).toMatchObject({ recoverable: true, cleanup: true });
  });

  it("stays RUNNING with a reason while the outputs cannot be read", async () => {
    await send(DesiredState.RUN);
    world.store.unavailable = true;
    world.complete(podRequest());
    await settlePromises();
    expect(told().at(-1)).toEqual(["RUNNING", expect.stringContaining("the outputs cannot be read yet")]);
    world.store.blobs.set(`${podRequest().outputPrefix}/outputs.pb`, outputs);
    world.store.unavailable = false;
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["SUCCEEDED", ""]);
  });

  it("builds on the PodTemplate that the task names, and fails when it does not exist", async () => {
    const request = podRequest();
    const template = { ...request.template, metadata: create(TaskMetadataSchema, { podTemplateName: "mine" }) } as TaskRequest["template"];
    world.cluster.templates.set("p-development/mine", {
      metadata: { name: "mine" },
      template: { spec: { schedulerName: "fancy" } },
    } as never);
    await send(DesiredState.RUN, { template });
    expect(world.cluster.pod?.spec.schedulerName).toBe("fancy");
    world.cluster.templates.clear();
    await send(DesiredState.RUN, { template, generatedName: "other-n0-0" });
    expect(error()).toMatchObject({ code: "FailedToBuildResource", message: expect.stringContaining('there is no PodTemplate "mine"') });
  });
});
