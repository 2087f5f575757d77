import { toBinary } from "@bufbuild/protobuf";
import { settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { DesiredState, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Pod } from "@flyte-ts/pod-task";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ReusedWorld } from "../simulation/reused-world.js";
import { WarmBench } from "../simulation/warm-bench.fixture.js";
import { warmRequest } from "../simulation/warm-world.js";

/** Time after which the simulated cluster starts a pod, ms. */
const START_MS = 300;
/** Images of two kinds; pods of the first are idle at the start. */
const [FIRST, SECOND] = ["example/image:1", "example/other:1"];

describe("idle reused pods beside attempts of another kind that find no node", () => {
  let world: ReusedWorld;
  let bench: WarmBench<ReusedWorld>;

  beforeEach(async () => {
    world = new ReusedWorld();
    world.hasRivals = false;
    bench = new WarmBench(world);
    await bench.start();
  });
  afterEach(() => bench.stop());

  const requestOf = (image: string, node: number, desired = DesiredState.RUN) => {
    const asked = warmRequest({ generatedName: `${image.slice(8, 13)}-n${node}-0`, nodePath: `n${node}` });
    if (asked.template?.target.case === "container") asked.template.target.value.image = image;
    return { ...asked, desired, deleteResources: desired !== DesiredState.RUN };
  };
  const send = async (...args: Parameters<typeof requestOf>) => {
    const request = requestOf(...args);
    await bench.bus.send(taskRequestSubject("python-task", request.shard), toBinary(TaskRequestSchema, request));
    await settlePromises();
  };
  /** Runs an attempt to its end. */
  const run = async (image: string, node: number) => {
    await send(image, node);
    await bench.advance(500);
    world.complete(requestOf(image, node));
    await bench.advance(100);
    await send(image, node, DesiredState.FINALIZE);
  };
  const keys = (state: "idle" | "taken", image: string) =>
    bench
      .pods(state)
      .filter((pod) => imageOf(pod) === image && pod.metadata.deletionTimestamp === undefined)
      .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
  /** Lets no node have room for a pod. */
  const findNoNode = async (key = "") => {
    // The simulated cluster starts it before.
    await bench.advance(START_MS);
    world.cluster.setPodStatus(key, "Pending", {
      state: { waiting: {} },
      conditions: [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message: "no node" }],
    });
  };

  it("give way at once, one for each that waits, also when an attempt has just used their kind", async () => {
    await run(FIRST, 0);
    // The pod of the attempt is offered to the next one.
    expect(keys("taken", FIRST)).toHaveLength(1);
    const before = [...keys("idle", FIRST), ...keys("taken", FIRST)];
    expect(before.length).toBeGreaterThan(1);
    await send(SECOND, 0);
    await findNoNode(keys("taken", SECOND)[0]);
    await bench.advance(100);
    expect([keys("idle", FIRST).length, keys("taken", FIRST).length]).toEqual([before.length - 1, 0]);
    // It still finds no node: their kind is not in use any more, and then all others go.
    await bench.advance(5_000);
    expect(keys("idle", FIRST)).toEqual([]);
  });

  it("leave it to the attempts of the other kind to start pods that serve the next ones", async () => {
    await run(FIRST, 0);
    await send(SECOND, 0);
    await findNoNode(keys("taken", SECOND)[0]);
    await bench.advance(100);
    await send(SECOND, 1);
    await send(SECOND, 2);
    expect(keys("taken", SECOND)).toHaveLength(3);
    expect([...world.cluster.pods.keys()].filter((key) => key.startsWith("p-development/other"))).toEqual([]);
  });

  it("stay when they are of the kind that waits, and go when it has waited for too long", async () => {
    await run(FIRST, 0);
    await bench.advance(1_500);
    for (const node of [1, 2, 3]) await send(FIRST, node);
    const waiting = [...keys("taken", FIRST)].at(-1);
    await findNoNode(waiting);
    world.complete(requestOf(FIRST, 1));
    await bench.advance(100);
    await send(FIRST, 1, DesiredState.FINALIZE);
    await bench.advance(3_000);
    expect(keys("idle", FIRST)).toHaveLength(1);
    await bench.advance(3_000);
    expect(keys("idle", FIRST)).toEqual([]);
  });

  it("give way to pods that are started ahead for a kind in use, which then stay", async () => {
    await bench.advance(3_000);
    expect(keys("idle", FIRST)).toHaveLength(2);
    await send(SECOND, 0);
    await bench.advance(100);
    const [ahead] = keys("idle", SECOND);
    await findNoNode(ahead);
    await bench.advance(100);
    expect([keys("idle", FIRST), keys("idle", SECOND)]).toEqual([[], [ahead]]);
  });

  it("know the modules that attempts of their own kind imported, and not those of the other", async () => {
    world.tellModules({ imports: ["one"] });
    await run(FIRST, 0);
    world.tellModules({ imports: ["other"] });
    await run(SECOND, 0);
    await bench.advance(2_000);
    const known = (image: string) =>
      bench.pods("idle").flatMap((pod) => (imageOf(pod) === image ? [pod.metadata.annotations?.["flyte.org/warm-preload"] ?? ""] : []));
    expect(known(FIRST).filter(Boolean)).toEqual(['{"load":["one"],"refuse":[]}']);
    expect(known(SECOND).filter(Boolean)).toEqual(['{"load":["other"],"refuse":[]}']);
  });

  it("are not started ahead for kinds that gave way, nor while others wait", async () => {
    await run(FIRST, 0);
    await send(SECOND, 0);
    await findNoNode(keys("taken", SECOND)[0]);
    await bench.advance(30_000);
    expect([keys("idle", FIRST), keys("idle", SECOND)]).toEqual([[], []]);
    world.cluster.startPod(keys("taken", SECOND)[0] ?? "");
    await bench.advance(25_000);
    expect([keys("idle", FIRST), keys("idle", SECOND).length]).toEqual([[], 2]);
  });
});

function imageOf({ spec }: Pod): string {
  return spec.containers[0]?.image ?? "";
}
