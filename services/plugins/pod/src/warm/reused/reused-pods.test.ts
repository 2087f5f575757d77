import { ExecutionError_ErrorKind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { KubeError, PODS } from "@flyte-ts/kubernetes";
import { decodeAttemptAnnotation } from "@flyte-ts/pod-task";
import { takeOf } from "@flyte-ts/pod-task/warm";
import { attemptKey } from "@flyte-ts/task-plugin";
import { pluginConformance } from "@flyte-ts/task-plugin/harness";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mark } from "../../simulation/simulated-supervisors.js";
import { ReusedWorld } from "../../simulation/reused-world.js";
import { WarmBench } from "../../simulation/warm-bench.fixture.js";
import { warmRequest } from "../../simulation/warm-world.js";

describe("the pod plugin with reused pods passes the conformance cases", () => {
  it.each(pluginConformance(() => new ReusedWorld(undefined, 0)))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe("a kind without reused pods", () => {
  let world: ReusedWorld;
  let bench: WarmBench<ReusedWorld>;
  const attemptOf = (node: number) => ({ generatedName: `a-n${node}-0`, nodePath: `n${node}` });

  beforeEach(async () => {
    world = new ReusedWorld();
    world.ahead = 0;
    world.hasRivals = false;
    bench = new WarmBench(world);
    await bench.start();
  });
  afterEach(() => bench.stop());

  it("starts one for its first attempt, which serves the next one", async () => {
    await bench.send(DesiredState.RUN, attemptOf(0));
    expect([bench.pods("taken"), bench.pods("taken")[0]?.status?.phase]).toMatchObject([[{}], "Pending"]);
    await bench.advance(1_000);
    expect([bench.phases(), world.isRunning(warmRequest(attemptOf(0)))]).toEqual([["QUEUED", "RUNNING"], true]);
    const [first] = bench.names("taken");
    world.complete(warmRequest(attemptOf(0)));
    await bench.advance(100);
    expect(bench.phases().at(-1)).toBe("SUCCEEDED");
    await bench.send(DesiredState.FINALIZE, attemptOf(0));
    await bench.advance(1_500);
    await bench.send(DesiredState.RUN, attemptOf(1));
    await bench.advance(1_000);
    expect([bench.names("taken"), world.isRunning(warmRequest(attemptOf(1)))]).toEqual([[first], true]);
  });

  it("starts at most its maximum of idle pods in this way; other attempts have pods of their own", async () => {
    for (let node = 0; node < 7; node++) await bench.send(DesiredState.RUN, attemptOf(node));
    expect(bench.names("taken")).toHaveLength(5);
    expect([...world.cluster.pods.keys()].filter((key) => key.startsWith("p-development/a-"))).toEqual([
      "p-development/a-n5-0",
      "p-development/a-n6-0",
    ]);
  });
});

describe("a reused pod whose take got no answer", () => {
  let world: ReusedWorld;
  let bench: WarmBench<ReusedWorld>;
  const other = { generatedName: "a-n1-0", nodePath: "n1" };

  beforeEach(async () => {
    world = new ReusedWorld();
    world.ahead = 1;
    world.hasRivals = false;
    bench = new WarmBench(world);
    await bench.start();
  });
  afterEach(() => bench.stop());

  it("serves the next attempt when the watch shows that it was taken", async () => {
    world.cluster.faults.push("createUnknown");
    await bench.send(DesiredState.RUN);
    await bench.advance(1_500);
    expect([bench.names("taken"), bench.phases().at(-1)]).toEqual([["warm-0"], "RUNNING"]);
    world.complete(warmRequest());
    await bench.advance(100);
    await bench.send(DesiredState.FINALIZE);
    await bench.send(DesiredState.RUN, other);
    await bench.advance(2_000);
    expect(world.cluster.podOf(attemptKey(warmRequest(other)))?.metadata.name).toBe("warm-0");
  });

  it.each([
    ["finalized", DesiredState.FINALIZE],
    ["aborted", DesiredState.ABORT],
  ])("serves another attempt when it was not taken and its attempt was %s", async (_, desired) => {
    const patch = world.cluster.mergePatch.bind(world.cluster);
    let lost = 1;
    world.cluster.mergePatch = (ref, options) =>
      lost-- > 0 ? Promise.reject(new KubeError("request timed out", { status: 0 })) : patch(ref, options);
    await bench.send(DesiredState.RUN);
    await bench.send(desired, { deleteResources: desired === DesiredState.ABORT });
    expect(bench.names("taken")).toEqual([]);
    await bench.advance(10_000);
    await bench.send(DesiredState.RUN, other);
    await bench.advance(2_000);
    expect(world.cluster.podOf(attemptKey(warmRequest(other)))?.metadata.name).toBe("warm-0");
  });
});

describe("reused pods", () => {
  let world: ReusedWorld;
  let bench: WarmBench<ReusedWorld>;
  const advance = (ms: number) => bench.advance(ms);
  const send = (desired: DesiredState, over?: Partial<TaskRequest>) => bench.send(desired, over);
  const pods = (state: "idle" | "taken") => bench.pods(state);
  const phases = () => bench.phases();
  const taken = () => bench.taken();
  /** The attempt that has taken the pod. */
  const takerOf = (name: string) => {
    const pod = world.cluster.pods.get(`p-development/${name}`);
    return pod === undefined ? undefined : decodeAttemptAnnotation(pod)?.generatedName;
  };

  beforeEach(async () => {
    world = new ReusedWorld();
    bench = new WarmBench(world);
    await bench.start();
    await send(DesiredState.RUN);
    await advance(1_000);
  });
  afterEach(() => bench.stop());

  it("tell the end of an attempt while they go on, and wait for another once it is stored", async () => {
    const { name } = taken().metadata;
    world.complete(warmRequest());
    await advance(100);
    expect(phases()).toEqual(["QUEUED", "RUNNING", "SUCCEEDED"]);
    expect(bench.bus.events.map(({ cleanup }) => cleanup)).toEqual([false, false, true]);
    expect(taken().status?.phase).toBe("Running");
    await send(DesiredState.FINALIZE);
    await advance(2_000);
    const freed = pods("idle").find(({ metadata }) => metadata.name === name);
    expect(
      Object.keys({ ...freed?.metadata.labels, ...freed?.metadata.annotations }).filter((key) =>
        /execution|attempt|taken|assign/.test(key),
      ),
    ).toEqual([]);
    expect(freed?.metadata.ownerReferences).toEqual([]);
  });

  it("are deleted when they ended before they were freed, and their kind goes on", async () => {
    world.hasRivals = false;
    const { name } = taken().metadata;
    world.complete(warmRequest());
    await advance(100);
    world.cluster.setPodStatus(`p-development/${name}`, "Succeeded", { state: { terminated: { exitCode: 0 } } });
    await send(DesiredState.FINALIZE);
    await advance(15_000);
    expect([world.cluster.pods.has(`p-development/${name}`), bench.names("idle").length]).toEqual([false, 2]);
  });

  it("are replaced once they have been busy for longer than a new pod needs", async () => {
    expect(pods("idle")).toHaveLength(1);
    await advance(10_000);
    expect(pods("idle")).toHaveLength(2);
  });

  it("serve attempts that follow each other without further pods", async () => {
    world.complete(warmRequest());
    await advance(100);
    await send(DesiredState.FINALIZE);
    // Attempts of others take freed pods later.
    await advance(40);
    expect([...world.cluster.pods.keys()].toSorted()).toEqual(["p-development/warm-0", "p-development/warm-1"]);
  });

  it("rest for 1.2 s while another pod is idle, since their kubelet may show an assignment late", async () => {
    const { name } = taken().metadata;
    const attemptOf = (node: number) => ({ generatedName: `a-n${node}-0`, nodePath: `n${node}` });
    await send(DesiredState.RUN, attemptOf(1));
    await advance(200);
    world.complete(warmRequest(attemptOf(1)));
    await advance(100);
    await send(DesiredState.FINALIZE, attemptOf(1));
    world.complete(warmRequest());
    await advance(100);
    await send(DesiredState.FINALIZE);
    await send(DesiredState.RUN, attemptOf(2));
    expect(takerOf(name)).toBe("a-n2-0");
    await advance(1_000);
    await send(DesiredState.RUN, attemptOf(3));
    expect(pods("taken").map(({ metadata }) => takerOf(metadata.name))).toEqual(expect.arrayContaining(["a-n2-0", "a-n3-0"]));
  });

  it("go from an attempt to the next one by one change, and keep nothing of the first", async () => {
    world.hasRivals = false;
    const { name } = taken().metadata;
    const next = { generatedName: "a-n1-0", nodePath: "n1" };
    await send(DesiredState.RUN, { generatedName: "a-n9-0", nodePath: "n9" });
    world.complete(warmRequest());
    await advance(1_200);
    await send(DesiredState.FINALIZE);
    await send(DesiredState.RUN, next);
    expect([takerOf(name), world.handOvers, world.frees]).toEqual(["a-n1-0", 1, 0]);
    await advance(1_000);
    world.complete(warmRequest(next));
    await advance(100);
    expect(phases().filter((phase) => phase === "SUCCEEDED")).toHaveLength(2);
    expect(bench.bus.unacknowledged).toBe(0);
    await send(DesiredState.FINALIZE, next);
    await advance(2_000);
    const text = JSON.stringify(bench.pods("idle").find(({ metadata }) => metadata.name === name)?.metadata);
    expect(text).not.toMatch(/a-n\d-0|attempt|assign/);
  });

  it("become idle when the process ends, although another attempt could take them", async () => {
    world.hasRivals = false;
    const { name } = taken().metadata;
    world.complete(warmRequest());
    await advance(100);
    await send(DesiredState.FINALIZE);
    expect(bench.names("idle")).not.toContain(name);
    await bench.stop();
    expect(bench.names("idle")).toContain(name);
    expect(bench.bus.unacknowledged).toBe(0);
  });

  it("are joined by another one when attempts follow each other faster than their kubelets can show them", async () => {
    world.hasRivals = false;
    for (let node = 1; node <= 4; node++) {
      const attempt = { generatedName: `a-n${node}-0`, nodePath: `n${node}` };
      await send(DesiredState.RUN, attempt);
      await advance(200);
      world.complete(warmRequest(attempt));
      await advance(100);
      await send(DesiredState.FINALIZE, attempt);
    }
    await advance(1_000);
    expect(world.cluster.pods.size).toBeGreaterThan(2);
  });

  it("get an assignment again that their kubelet has missed", async () => {
    const second = { generatedName: "a-n1-0", nodePath: "n1" };
    world.missChange();
    await send(DesiredState.RUN, second);
    await advance(1_500);
    expect([bench.names("taken").length, world.isRunning(warmRequest(second))]).toEqual([2, false]);
    await advance(1_000);
    expect(world.isRunning(warmRequest(second))).toBe(true);
    const versions = [...world.cluster.pods.values()].map(({ metadata }) => metadata.resourceVersion);
    await advance(30_000);
    world.complete(warmRequest(second));
    await advance(100);
    expect(phases().filter((phase) => phase === "SUCCEEDED")).toHaveLength(1);
    // An attempt that was seen to start is left alone.
    expect([...world.cluster.pods.values()].map(({ metadata }) => metadata.resourceVersion)).toEqual(expect.arrayContaining(versions));
  });

  it("hold the modules that attempts of their kind imported, as do new pods and those after a restart", async () => {
    const preloads = () => pods("idle").map(({ metadata }) => metadata.annotations?.["flyte.org/warm-preload"]);
    const expected = '{"load":["numpy","sklearn.linear_model"],"refuse":[]}';
    world.hasRivals = false;
    world.tellModules({ imports: ["numpy", "sklearn.linear_model"] });
    world.complete(warmRequest());
    await advance(100);
    await send(DesiredState.FINALIZE);
    await advance(2_000);
    expect(new Set(preloads())).toEqual(new Set([expected, undefined]));
    await bench.stop();
    await bench.start();
    world.tellModules({});
    for (const node of [1, 2, 3]) await send(DesiredState.RUN, { generatedName: `a-n${node}-0`, nodePath: `n${node}` });
    await advance(20_000);
    const started = pods("idle").filter(({ metadata }) => !/^warm-\d$/.test(metadata.name));
    expect(started.length).toBeGreaterThan(0);
    for (const { metadata } of started) expect(metadata.annotations?.["flyte.org/warm-preload"]).toBe(expected);
  });

  it("end an aborted attempt without its pod", async () => {
    const { name } = taken().metadata;
    await send(DesiredState.ABORT);
    await advance(1_000);
    expect(phases().at(-1)).toBe("ABORTED");
    expect(world.cluster.pods.get(`p-development/${name}`)?.metadata.deletionTimestamp).toBeUndefined();
    expect([world.isRunning(warmRequest()), world.frees]).toEqual([false, 1]);
  });

  it("are deleted when their supervisor does not end an aborted attempt within 2 s", async () => {
    const key = `p-development/${taken().metadata.name}`;
    world.cluster.logs = () => {
      throw new Error("no log");
    };
    world.hideAssignments();
    await send(DesiredState.ABORT);
    await advance(2_100);
    expect(world.cluster.pods.get(key)?.metadata.deletionTimestamp).toBeDefined();
    await advance(2_000);
    expect([phases().at(-1), world.cluster.pods.has(key)]).toEqual(["ABORTED", false]);
  });

  it("tell an end to a new process, by the log or by the message of a pod that has ended", async () => {
    await bench.stop();
    world.complete(warmRequest());
    await advance(60_000);
    await bench.start();
    expect([phases().at(-1), taken().status?.phase]).toEqual(["SUCCEEDED", "Succeeded"]);
  });

  it("fail their attempt as a failure of the system when they are deleted", async () => {
    world.cluster.deletePodExternally(`p-development/${taken().metadata.name}`);
    await advance(1_000);
    const result = bench.bus.events.at(-1)?.event?.outputResult;
    expect([phases().at(-1), result?.case === "error" ? [result.value.code, result.value.kind] : []]).toEqual([
      "FAILED",
      ["ResourceDeletedExternally", 2],
    ]);
  });

  describe.each([
    ["a mark", { stopped: true, retires: "the pod is stopped" }],
    ["a mark of an earlier supervisor", { retires: "the pod is stopped" }],
  ])("stopped by a kubelet, which %s tells", (_, told) => {
    const failure = () => {
      const result = bench.bus.events.at(-1)?.event?.outputResult;
      return result?.case === "error" ? [result.value.code, result.value.kind] : [];
    };

    it("fail their attempt as a failure of the system once the kubelet tells the reason", async () => {
      world.stopPod(warmRequest(), told);
      await advance(100);
      expect(phases().at(-1)).toBe("RUNNING");
      const message = mark(takeOf(taken()) ?? "", { code: 143, ...told });
      const state = { terminated: { exitCode: 143, reason: "Error", message } };
      world.cluster.setPodStatus(attemptKey(warmRequest()), "Failed", { state, reason: "Evicted" });
      await advance(1_000);
      expect([phases().at(-1), failure()]).toEqual(["FAILED", ["Evicted", ExecutionError_ErrorKind.SYSTEM]]);
    });

    it("fail their attempt as a failure of the system when its node is lost with them", async () => {
      const { namespace = "", name } = taken().metadata;
      world.stopPod(warmRequest(), told);
      await advance(100);
      world.cluster.deletionHangs = true;
      await world.cluster.delete(PODS, { namespace, name });
      await advance(1_000);
      expect([phases().at(-1), failure()]).toEqual(["FAILED", ["UnexpectedObjectDeletion", ExecutionError_ErrorKind.SYSTEM]]);
    });

    it("can be aborted", async () => {
      const key = `p-development/${taken().metadata.name}`;
      world.stopPod(warmRequest(), told);
      await advance(100);
      await send(DesiredState.ABORT);
      await advance(5_000);
      expect([phases().at(-1), world.cluster.pods.has(key)]).toEqual(["ABORTED", false]);
    });
  });

  it("tell that the kernel killed an attempt for want of memory", async () => {
    world.cluster.setPodStatus(attemptKey(warmRequest()), "Failed", { state: { terminated: { exitCode: 137, reason: "OOMKilled" } } });
    await advance(1_000);
    const result = bench.bus.events.at(-1)?.event?.outputResult;
    expect([phases().at(-1), result?.case === "error" ? result.value.code : ""]).toEqual(["FAILED", "OOMKilled"]);
  });
});
