import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/domain";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskMetadataSchema, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { KubeError, type KubeObject, PODS } from "@flyte-ts/kubernetes";
import { attemptKey, type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { MemoryBus, pluginConformance, type PluginWorld, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podServiceConfig } from "../config.js";
import { podPlugin } from "../plugin.js";
import { MemoryStore } from "../simulation/memory-store.js";
import { SimulatedCluster } from "../simulation/simulated-cluster.js";
import { PodAttempts } from "./pod-attempts.js";

const logger = createLogger({ service: "test", level: "silent" });
const { pods, ...config } = podServiceConfig.parse({ nats: { url: "" } });

function podRequest(over: Partial<TaskRequest> = {}): TaskRequest {
  const request = sampleRequest("python-task", over);
  request.template = create(TaskTemplateSchema, {
    id: { name: "tasks.work" },
    type: "python-task",
    interface: create(TypedInterfaceSchema, { outputs: { variables: { o0: {} } } }),
    target: { case: "container", value: { image: "example/image:1", args: ["run", "{{.input}}"] } },
  });
  request.inputs = create(LiteralMapSchema, { literals: { a: { hash: "in" } } });
  return request;
}

const outputs = toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals: { o0: { hash: "out" } } }));
const key = attemptKey(podRequest());

class PodWorld implements PluginWorld {
  clock: ManualTime | undefined;
  readonly cluster = new SimulatedCluster(() => this.clock);
  readonly store = new MemoryStore();
  readonly archive = { keep: () => [], kept: () => Promise.resolve() };

  plugin(clock: ManualTime) {
    this.clock = clock;
    return podPlugin(
      new PodAttempts({ ...config, config: pods, client: this.cluster, store: this.store, clock, logger, archive: this.archive }),
      config.taskTypes,
    );
  }

  request = () => podRequest();

  badRequest(): TaskRequest {
    const request = podRequest();
    if (request.template !== undefined) request.template.target = { case: undefined };
    return request;
  }

  finish(request: TaskRequest): void {
    if (this.cluster.pods.get(attemptKey(request))?.status?.phase !== "Pending") return;
    this.store.blobs.set(`${request.outputPrefix}/outputs.pb`, outputs);
    const finishedAt = this.clock === undefined ? "" : new Date(this.clock.now()).toISOString();
    this.cluster.set(attemptKey(request), "Succeeded", { state: { terminated: { exitCode: 0, reason: "Completed", finishedAt } } });
  }

  starts(request: TaskRequest): number {
    return this.cluster.creations.get(attemptKey(request)) ?? 0;
  }

  running(request: TaskRequest): boolean {
    const phase = this.cluster.pods.get(attemptKey(request))?.status?.phase;
    return phase === "Pending" || phase === "Running";
  }
}

describe("pods keep the contract", () => {
  it.each(pluginConformance(() => new PodWorld()))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe("an attempt's pod", () => {
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
  const run = () => world.cluster.set(key, "Running", { state: { running: { startedAt: new Date(clock.now()).toISOString() } } });

  beforeEach(async () => {
    world = new PodWorld();
    bus = new MemoryBus();
    clock = new ManualTime();
    await start();
  });
  afterEach(() => running.stop());

  it("is stopped with all others of its resource, by the uid alone, and others stay", async () => {
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
    expect([...world.cluster.pods.keys()]).toEqual(["p-development/beside-n0-0"]);
    const told = bus.events.slice(before).map(({ event }) => [event?.metadata?.generatedName, Phase[event?.phase ?? 0]]);
    expect(told).toEqual([[podRequest().generatedName, "ABORTED"]]);
    expect(bus.unacknowledged).toBe(0);
  });

  it("is told from submission to its end, with outputs by value", async () => {
    await send(DesiredState.RUN);
    run();
    await settlePromises();
    world.store.blobs.set(`${podRequest().outputPrefix}/outputs.pb`, outputs);
    world.cluster.set(key, "Running", { state: { terminated: { exitCode: 0, finishedAt: new Date(clock.now()).toISOString() } } });
    await settlePromises();
    expect(told()).toEqual([
      ["QUEUED", "task submitted to K8s"],
      ["RUNNING", ""],
      ["SUCCEEDED", ""],
    ]);
    expect(last()?.outputs?.literals.o0?.hash).toBe("out");
    expect(last()?.event?.metadata?.pluginIdentifier).toBe("container");
  });

  it("is told as submitted first, though the watch saw it run before its creation was answered", async () => {
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

  it("has its inputs written before it exists, unless they are written", async () => {
    await send(DesiredState.RUN);
    const written = world.store.blobs.get(podRequest().inputUri);
    expect(fromBinary(LiteralMapSchema, written ?? new Uint8Array()).literals.a?.hash).toBe("in");
    expect(world.cluster.pod?.spec.containers[0]?.args).toEqual(["run", podRequest().inputUri]);
  });

  it("is not made while inputs cannot be written, and users see why", async () => {
    world.store.down = true;
    await send(DesiredState.RUN);
    expect(world.cluster.pods.size).toBe(0);
    expect(told()).toEqual([["QUEUED", expect.stringContaining("the blob store does not answer")]]);
    world.store.down = false;
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["QUEUED", "task submitted to K8s"]);
  });

  it("that ended is told of by a new process that nobody asked", async () => {
    await send(DesiredState.RUN);
    await running.stop();
    world.finish(podRequest());
    await start();
    expect(told().at(-1)).toEqual(["SUCCEEDED", ""]);
    expect(last()?.nodePath).toBe("n0");
    expect(last()?.event?.inputValue).toEqual({ case: "inputUri", value: podRequest().inputUri });
  });

  it("that ended long before the start is not told of again", async () => {
    await send(DesiredState.RUN);
    world.finish(podRequest());
    await settlePromises();
    await running.stop();
    bus.published.length = 0;
    await clock.advance(config.tellEndsOfMs + 1);
    await start();
    expect(told()).toEqual([]);
    world.cluster.lose(key);
    await settlePromises();
    expect(told()).toEqual([]);
  });

  it("that is deleted from outside is the system's failure", async () => {
    await send(DesiredState.RUN);
    run();
    await settlePromises();
    world.cluster.lose(key);
    await settlePromises();
    expect(error()).toEqual({
      code: "ResourceDeletedExternally",
      kind: 2,
      message: `resource not found, name [${key}]. reason: pods "${podRequest().generatedName}" not found`,
    });
    expect(last()?.failure?.recoverable).toBe(true);
  });

  it("that was deleted while nobody looked is the system's failure, and not made again", async () => {
    await send(DesiredState.RUN);
    const pluginState = last()?.pluginState ?? new Uint8Array();
    await running.stop();
    world.cluster.lose(key);
    await start();
    await send(DesiredState.RUN, { pluginState, knownPhase: Phase.QUEUED });
    expect(error()?.code).toBe("ResourceDeletedExternally");
    expect(world.starts(podRequest())).toBe(1);
  });

  it("of another owner with the same name is left alone", async () => {
    await send(DesiredState.RUN);
    await running.stop();
    await start();
    const owner = { ...podRequest().owner, uid: "another" } as TaskRequest["owner"];
    await send(DesiredState.RUN, { owner });
    expect(error()).toMatchObject({ code: "PodNameTaken", kind: 2 });
    await send(DesiredState.FINALIZE, { owner, deleteResources: true });
    expect(world.cluster.pods.size).toBe(1);
  });

  it("is deleted for an abort, with a short grace, and ABORTED is told when it is gone", async () => {
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

  it("that does not go keeps the abort waiting", async () => {
    await send(DesiredState.RUN);
    run();
    await settlePromises();
    world.cluster.stuck = true;
    await send(DesiredState.ABORT);
    await clock.advance(120_000);
    expect(told().at(-1)?.[0]).toBe("RUNNING");
    world.cluster.lose(key);
    await clock.advance(30_000);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
  });

  it("that has ended before the abort keeps its end", async () => {
    await send(DesiredState.RUN);
    await running.stop();
    world.finish(podRequest());
    bus.published.length = 0;
    world.cluster.down = true;
    await start();
    // An abort needs only the attempt's names.
    await send(DesiredState.ABORT, {
      owner: undefined,
      inputUri: "",
      outputPrefix: "",
      template: create(TaskTemplateSchema, { type: "python-task" }),
    });
    world.cluster.down = false;
    await clock.advance(30_000);
    expect(told()).toEqual([["SUCCEEDED", ""]]);
    expect(last()?.outputs?.literals.o0?.hash).toBe("out");
    expect(world.cluster.pods.size).toBe(1);
  });

  it.each([
    [true, 0],
    [false, 1],
  ])("goes or stays with FINALIZE as propeller says (%s)", async (deleteResources, left) => {
    await send(DesiredState.RUN);
    world.finish(podRequest());
    await settlePromises();
    await send(DesiredState.FINALIZE, { deleteResources });
    expect(world.cluster.pods.size).toBe(left);
    expect(told().at(-1)?.[0]).toBe("SUCCEEDED");
  });

  it("waits for a full quota, and users see why", async () => {
    const message = 'pods "x" is forbidden: exceeded quota: q, requested: limits.cpu=500m, used: limits.cpu=2, limited: limits.cpu=2';
    world.cluster.refusals.push(new KubeError(message, { status: 403, reason: "Forbidden" }));
    await send(DesiredState.RUN);
    expect(told()).toEqual([["WAITING_FOR_RESOURCES", `Exceeded resourcequota: ${message}`]]);
    expect(bus.unacknowledged).toBe(0);
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["QUEUED", "task submitted to K8s"]);
  });

  it("waits for the account that every new namespace gets", async () => {
    const message = 'pods "x" is forbidden: error looking up service account p-d/default: serviceaccount "default" not found';
    world.cluster.refusals.push(new KubeError(message, { status: 403, reason: "Forbidden" }));
    await send(DesiredState.RUN);
    expect(told()).toEqual([["QUEUED", expect.stringContaining(message)]]);
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["QUEUED", "task submitted to K8s"]);
  });

  it.each([
    {
      what: "more than the quota allows in all",
      status: 403,
      message: "forbidden: exceeded quota: q, requested: limits.cpu=7, used: limits.cpu=0, limited: limits.cpu=2",
      code: "ResourceRequestsExceedLimits",
      recoverable: false,
    },
    { what: "what is not allowed", status: 403, message: "forbidden: no", code: "RuntimeFailure", recoverable: true },
    { what: "what is no pod", status: 422, message: "image: Required value", code: "BadTaskFormat", recoverable: false },
    { what: "what an admission refuses", status: 400, message: "denied", code: "BadTaskFormat", recoverable: false },
    { what: "what is too large", status: 413, message: "too large", code: "EntityTooLarge", recoverable: false },
  ])("fails for $what", async ({ status, message, code, recoverable }) => {
    world.cluster.refusals.push(new KubeError(message, { status }));
    await send(DesiredState.RUN);
    expect(error()?.code).toBe(code);
    expect(error()?.message).toContain(message);
    expect(last()?.failure?.recoverable).toBe(recoverable);
  });

  it("is made when Kubernetes answers again, and users see why it was not", async () => {
    world.cluster.down = true;
    await send(DesiredState.RUN);
    expect(told()).toEqual([["QUEUED", expect.stringContaining("Kubernetes does not answer: connect ECONNREFUSED")]]);
    world.cluster.down = false;
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["QUEUED", "task submitted to K8s"]);
  });

  it("fails after the grace period of an image that cannot be pulled, and is marked for removal", async () => {
    await send(DesiredState.RUN);
    const lastTransitionTime = new Date(clock.now()).toISOString();
    const condition = { type: "Ready", status: "False", reason: "ContainersNotReady", message: "unready", lastTransitionTime };
    world.cluster.set(key, "Pending", {
      state: { waiting: { reason: "ImagePullBackOff", message: "no such image" } },
      conditions: [condition],
    });
    await settlePromises();
    expect(told().at(-1)).toEqual(["INITIALIZING", "[ContainersNotReady|ImagePullBackOff]: unready|no such image"]);
    await clock.advance(180_000);
    expect(error()?.code).toBe("ContainersNotReady|ImagePullBackOff");
    expect(last()?.failure).toMatchObject({ recoverable: true, cleanup: true });
  });

  it("whose outputs cannot be read yet is RUNNING, with the reason", async () => {
    await send(DesiredState.RUN);
    world.store.down = true;
    world.finish(podRequest());
    await settlePromises();
    expect(told().at(-1)).toEqual(["RUNNING", expect.stringContaining("outputs cannot be read yet")]);
    world.store.blobs.set(`${podRequest().outputPrefix}/outputs.pb`, outputs);
    world.store.down = false;
    await clock.advance(1_000);
    expect(told().at(-1)).toEqual(["SUCCEEDED", ""]);
  });

  it("is built on the PodTemplate that its task names, or fails when there is none", async () => {
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
