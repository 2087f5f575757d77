import { toBinary } from "@bufbuild/protobuf";
import { settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { KubeError } from "@flyte-ts/kubernetes";
import { ATTEMPT_ANNOTATION } from "@flyte-ts/pod-task";
import { attemptKey } from "@flyte-ts/task-plugin";
import { pluginConformance } from "@flyte-ts/task-plugin/harness";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { AttemptPodNames } from "../attempt-pod-names.js";
import { WarmBench } from "../simulation/warm-bench.fixture.js";
import { warmRequest, WarmWorld } from "../simulation/warm-world.js";

describe("the pod plugin with warm pods passes the conformance cases", () => {
  it.each(pluginConformance(() => new WarmWorld(undefined, 0)))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe("warm pods", () => {
  let world: WarmWorld;
  let bench: WarmBench<WarmWorld>;
  const advance = (ms: number) => bench.advance(ms);
  const send = (desired: DesiredState, over?: Partial<TaskRequest>) => bench.send(desired, over);
  const pods = (state: "idle" | "taken") => bench.pods(state);
  const phases = () => bench.phases();
  const taken = () => bench.taken();

  /** Sends an attempt whose container differs from that of the others. */
  const sendOther = async (generatedName: string, container: { args: string[] } | { image: string }) => {
    const request = { ...warmRequest({ generatedName }), desired: DesiredState.RUN };
    const target = request.template?.target;
    if (target?.case === "container") Object.assign(target.value, container);
    await bench.bus.send(taskRequestSubject("python-task", request.shard), toBinary(TaskRequestSchema, request));
  };
  /** Sends an attempt that takes no warm pod. */
  const sendCold = () => sendOther("cold-n0-0", { args: ["run"] });
  const sendUnschedulable = async () => {
    await sendCold();
    await settlePromises();
    world.cluster.setPodStatus("p-development/cold-n0-0", "Pending", {
      state: { waiting: {} },
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" }],
    });
  };

  beforeEach(async () => {
    world = new WarmWorld();
    bench = new WarmBench(world);
    await bench.start();
  });
  afterEach(() => bench.stop());

  it("are taken by an attempt and replaced", async () => {
    await send(DesiredState.RUN);
    await advance(1_000);
    expect(bench.names("taken")).toHaveLength(1);
    expect(world.cluster.pods.has(attemptKey(warmRequest()))).toBe(false);
    expect(taken().metadata).toMatchObject({
      labels: { "execution-id": "a1b2c3d4e5f6g7h8i9j0", "node-id": "n0" },
      annotations: { [ATTEMPT_ANNOTATION]: expect.any(String) as string },
      ownerReferences: [{ uid: warmRequest().owner?.uid }],
    });
    expect(phases()).toEqual(["QUEUED", "RUNNING"]);
    expect(bench.bus.events.map(({ event }) => event?.logContext?.primaryPodName)).toEqual([taken().metadata.name, taken().metadata.name]);
    expect(bench.names("idle")).toHaveLength(2);
    world.complete(warmRequest());
    await advance(1_000);
    expect(phases().at(-1)).toBe("SUCCEEDED");
    await send(DesiredState.FINALIZE);
    await advance(5_000);
    expect(pods("taken")).toEqual([]);
  });

  it("are taken by one attempt each, and others start cold", async () => {
    const attempts = [0, 1, 2].map((node) => ({ generatedName: `a-n${node}-0`, nodePath: `n${node}` }));
    await Promise.all(attempts.map((over) => send(DesiredState.RUN, over)));
    await advance(10);
    expect(bench.names("taken").toSorted()).toEqual(["warm-0", "warm-1"]);
    expect(attempts.filter(({ generatedName }) => world.cluster.pods.has(`p-development/${generatedName}`))).toHaveLength(1);
  });

  it("are found again by a new process, which reports their ends", async () => {
    await send(DesiredState.RUN);
    await advance(1_000);
    const { name } = taken().metadata;
    await bench.stop();
    world.complete(warmRequest());
    await bench.start();
    expect(phases().at(-1)).toBe("SUCCEEDED");
    expect(bench.names("taken")).toEqual([name]);
    expect(world.cluster.takes).toBe(1);
  });

  describe("beyond the rights of a new process", () => {
    const forbidden = (verb: string) => new KubeError(`pods "warm-0" is forbidden: cannot ${verb}`, { status: 403, reason: "Forbidden" });
    /** Refuses the calls of these verbs for the first idle pod, and starts a new process. */
    const restart = async (...verbs: ("mergePatch" | "delete")[]) => {
      await bench.stop();
      for (const verb of verbs) {
        const call = world.cluster[verb].bind(world.cluster) as (...args: unknown[]) => Promise<never>;
        const refused: typeof call = (ref, options) =>
          (options as { name: string }).name === "warm-0" ? Promise.reject(forbidden(verb)) : call(ref, options);
        Object.assign(world.cluster, { [verb]: refused });
      }
      await bench.start();
      // A simulated watch may miss changes right after its list, such as that of the other pod.
      world.cluster.patchDirectly("p-development/warm-1", { metadata: {} });
      await settlePromises();
    };

    it("are deleted, and attempts start", async () => {
      await restart("mergePatch");
      await sendCold();
      await send(DesiredState.RUN);
      await advance(1_000);
      expect(world.cluster.pods.has("p-development/cold-n0-0")).toBe(true);
      expect(bench.names("taken")).toEqual(["warm-1"]);
      await advance(40_000);
      expect(bench.names("idle")).not.toContain("warm-0");
    });

    it("are left alone when they cannot be deleted either, and attempts start without them", async () => {
      await restart("mergePatch", "delete");
      await sendCold();
      for (const node of [0, 1]) await send(DesiredState.RUN, { generatedName: `a-n${node}-0`, nodePath: `n${node}` });
      await advance(1_000);
      expect(world.cluster.pods.has("p-development/cold-n0-0")).toBe(true);
      expect([bench.names("taken"), bench.names("idle")]).toEqual([
        expect.arrayContaining(["warm-1"]) as string[],
        expect.arrayContaining(["warm-0"]) as string[],
      ]);
    });

    it("are taken over once the API server answers again", async () => {
      await bench.stop();
      const patch = world.cluster.mergePatch.bind(world.cluster);
      let failures = 3;
      world.cluster.mergePatch = (ref, options) =>
        failures-- > 0 ? Promise.reject(new KubeError("no leader", { status: 503 })) : patch(ref, options);
      await bench.start();
      await send(DesiredState.RUN);
      await advance(1_000);
      expect([bench.names("taken").length, world.cluster.pods.has("p-development/warm-0")]).toEqual([1, true]);
    });
  });

  describe("already deleted", () => {
    /** The names of warm pods that the controller keeps. */
    const kept = () => (add.mock.contexts.at(-1) as AttemptPodNames).size;
    let add: MockInstance<AttemptPodNames["add"]>;

    beforeEach(async () => {
      add = vi.spyOn(AttemptPodNames.prototype, "add");
      await send(DesiredState.RUN);
      await advance(1_000);
    });
    afterEach(() => add.mockRestore());

    it("are forgotten once their end was reported", async () => {
      world.complete(warmRequest());
      await advance(1_000);
      expect(kept()).toBe(1);
      world.cluster.deletePodExternally(`p-development/${taken().metadata.name}`);
      await advance(1_000);
      expect([phases().at(-1), kept()]).toEqual(["SUCCEEDED", 0]);
    });

    it("are forgotten once their loss was reported", async () => {
      world.cluster.deletePodExternally(`p-development/${taken().metadata.name}`);
      await advance(1_000);
      expect([phases().at(-1), kept()]).toEqual(["FAILED", 0]);
    });

    it("are forgotten after their attempt was finalized without them", async () => {
      const { name } = taken().metadata;
      world.complete(warmRequest());
      await advance(1_000);
      await send(DesiredState.FINALIZE, { deleteResources: false });
      expect(kept()).toBe(1);
      world.cluster.deletePodExternally(`p-development/${name}`);
      await advance(1_000);
      expect(kept()).toBe(0);
    });
  });

  it("are deleted by an abort, which leaves others alone", async () => {
    await send(DesiredState.RUN);
    await send(DesiredState.RUN, { generatedName: "beside-n0-0" });
    await advance(1_000);
    await send(DesiredState.ABORT);
    await advance(3_000);
    expect(phases().at(-1)).toBe("ABORTED");
    expect(world.cluster.podOf(attemptKey(warmRequest()))).toBeUndefined();
    expect(world.cluster.podOf("p-development/beside-n0-0")?.status?.phase).toBe("Running");
  });

  it("fail their attempt as a failure of the system when they are deleted", async () => {
    await send(DesiredState.RUN);
    await advance(1_000);
    world.cluster.deletePodExternally(`p-development/${taken().metadata.name}`);
    await advance(1_000);
    const result = bench.bus.events.at(-1)?.event?.outputResult;
    expect([phases().at(-1), result?.case === "error" ? [result.value.code, result.value.kind] : []]).toEqual([
      "FAILED",
      ["ResourceDeletedExternally", 2],
    ]);
  });

  it("give way to a pod that the quota refuses", async () => {
    world.cluster.createErrors.push(
      new KubeError('pods "x" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2', {
        status: 403,
        reason: "Forbidden",
      }),
    );
    await sendCold();
    await advance(3_000);
    expect(pods("idle")).toEqual([]);
  });

  it("give way to a pod that finds no node, and none is started for a while", async () => {
    await send(DesiredState.RUN, { generatedName: "first-n0-0" });
    await sendUnschedulable();
    await advance(20_000);
    expect([pods("idle"), bench.names("taken")]).toEqual([[], ["warm-0"]]);
    await advance(60_000);
    expect(pods("idle")).not.toEqual([]);
  });

  it("give way in turn: those of a kind that is in use stay while others make enough room", async () => {
    const unused = bench.names("idle");
    expect(unused).toEqual(["warm-0", "warm-1"]);
    await sendOther("used-n0-0", { image: "example/other:1" });
    await advance(1_000);
    const used = bench.names("idle").filter((name) => !unused.includes(name));
    expect(used.length).toBeGreaterThan(0);
    await sendUnschedulable();
    await advance(2_000);
    expect(bench.names("idle")).toEqual(used);
    // It still finds no node.
    await advance(5_000);
    expect(bench.names("idle")).toEqual([]);
  });

  it("are gone when nothing has started for some time", async () => {
    await send(DesiredState.RUN);
    await advance(590_000);
    expect(pods("idle")).toHaveLength(2);
    await advance(30_000);
    expect(pods("idle")).toEqual([]);
  });

  it("are deleted when they end by themselves, and their kind pauses", async () => {
    await send(DesiredState.RUN);
    await advance(1_000);
    const before = bench.names("idle");
    const [first] = pods("idle");
    world.cluster.setPodStatus(`p-development/${first?.metadata.name}`, "Failed", { state: { terminated: { exitCode: 1 } } });
    await advance(10_000);
    expect(bench.names("idle")).toEqual(before.slice(1));
    await advance(60_000);
    expect(bench.names("idle")).toHaveLength(2);
  });
});
