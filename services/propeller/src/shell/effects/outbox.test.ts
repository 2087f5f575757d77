import { create } from "@bufbuild/protobuf";
import { DesiredState, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { expect, test, vi } from "vitest";
import type { Effect } from "../../engine/types.js";
import { Outbox } from "./outbox.js";

const requestTask = (generatedName: string, desired = DesiredState.RUN): Effect => ({
  kind: "sendTaskRequest",
  request: create(TaskRequestSchema, { generatedName, desired }),
});
const readLiteral = (id: number): Effect => ({ kind: "readLiteral", uri: String(id) });
const many = (name: string, count: number, desired = DesiredState.RUN) =>
  Array.from({ length: count }, (_, index) => requestTask(`${name}-${index}`, desired));

function stage() {
  const started: string[] = [];
  const failed: unknown[] = [];
  const state = { now: 0, holds: true, throws: "", shared: false };
  const outbox = new Outbox({
    start: (key, effect) => {
      const name =
        effect.kind === "sendTaskRequest" ? effect.request.generatedName : effect.kind === "readLiteral" ? effect.uri : effect.kind;
      if (name === state.throws) throw new Error("planned");
      started.push(`${key} ${name}`);
    },
    onError: (_, error) => failed.push(error),
    holdsWorkflow: () => state.holds,
    isShared: () => state.shared,
    now: () => state.now,
  });
  const of = (key: string) => started.filter((each) => each.startsWith(`${key} `)).map((each) => each.slice(key.length + 1));
  return { outbox, started, failed, state, of };
}

/** Runs the outbox until nothing changes. */
async function rest(started: readonly string[]): Promise<void> {
  for (let still = 0, known = -1; still < 5; still = started.length === known ? still + 1 : 0) {
    known = started.length;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("starts a few effects at once, and many in order, alternating with other workflows", async () => {
  // Each look at the clock is a tenth of a millisecond later, so that a turn starts a few effects
  // on any machine.
  let nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 0.1));
  const LARGE = 2_000;
  const { outbox, started, of, state } = stage();
  state.shared = true;
  outbox.execute(
    "large",
    Array.from({ length: LARGE }, (_, index) => readLiteral(index)),
  );
  expect(of("large").length).toBeLessThan(LARGE);
  outbox.execute("small", [readLiteral(1), readLiteral(2)]);
  expect(of("small")).toEqual(["1", "2"]);
  outbox.execute(
    "middle",
    Array.from({ length: 100 }, (_, index) => readLiteral(index)),
  );
  while (of("middle").length < 100) await new Promise((resolve) => setImmediate(resolve));
  expect(of("large").length).toBeLessThan(LARGE);
  outbox.execute("large", [readLiteral(LARGE)]);
  await rest(started);
  expect(of("large")).toEqual(Array.from({ length: LARGE + 1 }, (_, index) => String(index)));
});

test("limits the pending requests of a task type, and no workflow blocks others", async () => {
  const { outbox, started, of, state } = stage();
  outbox.execute("large", many("a", 3_000));
  await rest(started);
  expect(of("large")).toHaveLength(1_000);
  expect(outbox.hasCapacity("large")).toBe(false);
  outbox.execute("small", many("b", 10));
  expect(of("small")).toHaveLength(10);
  let room = false;
  void outbox.whenCapacity("large").then(() => (room = true));
  for (let index = 0; index < 500; index++) outbox.onPluginReport("large", `a-${index}`);
  await rest(started);
  expect(of("large")).toHaveLength(1_500);
  expect(room).toBe(false);
  for (let index = 500; index < 1_500; index++) outbox.onPluginReport("large", `a-${index}`);
  await rest(started);
  expect(of("large")).toHaveLength(2_500);
  expect(room).toBe(true);
  expect(state.now).toBe(0);
});

test("sends an ABORT of a pending attempt and a FINALIZE at once", async () => {
  const { outbox, started, of } = stage();
  outbox.execute("a", many("x", 1_000));
  await rest(started);
  outbox.execute("a", [requestTask("x-7", DesiredState.ABORT), requestTask("y", DesiredState.FINALIZE)]);
  expect(of("a").slice(1_000)).toEqual(["x-7", "y"]);
});

test("limits pending requests further while other workflows are active", async () => {
  const { outbox, started, of, state } = stage();
  state.shared = true;
  outbox.execute("large", many("a", 3_000));
  await rest(started);
  expect(of("large")).toHaveLength(128);
  state.shared = false;
  outbox.onPluginReport("large", "a-0");
  await rest(started);
  expect(of("large")).toHaveLength(1_001);
  state.shared = true;
  outbox.onPluginReport("large", "a-1");
  await rest(started);
  expect(of("large")).toHaveLength(1_001);
});

test("does not wait for a plugin service that does not answer", async () => {
  const { outbox, started, of, state } = stage();
  outbox.execute("a", many("x", 4_000));
  await rest(started);
  expect(of("a")).toHaveLength(1_000);
  state.now = 5_000;
  while (of("a").length < 4_000) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(outbox.size).toBe(0);
});

test("lets pending requests without an answer expire", async () => {
  const { outbox, started, of, state } = stage();
  outbox.execute("a", many("x", 2_500));
  await rest(started);
  state.now = 4_000;
  outbox.onPluginReport("a", "x-999");
  await rest(started);
  expect(of("a")).toHaveLength(1_001);
  state.now = 6_000;
  outbox.onPluginReport("a", "another");
  while (of("a").length < 2_000) await new Promise((resolve) => setTimeout(resolve, 20));
  await rest(started);
  // The first requests have expired, the one sent at 4,000 has not.
  expect(of("a").length).toBeLessThan(2_500);
});

test("starts waiting effects of a released run without awaiting answers, unless its shard is lost", async () => {
  const { outbox, started, of, state } = stage();
  outbox.execute("a", many("x", 2_500));
  outbox.execute("b", many("x", 2_500));
  await rest(started);
  outbox.onRunReleased("a");
  await rest(started);
  expect(of("a")).toHaveLength(2_500);
  state.holds = false;
  outbox.onRunReleased("b");
  await rest(started);
  expect(of("b")).toHaveLength(1_000);
  expect(outbox.size).toBe(0);
});

test("does not count requests of a workflow without a run", () => {
  const { outbox, of } = stage();
  for (let index = 0; index < 2_500; index++) {
    outbox.execute("over", [requestTask(`x-${index}`, DesiredState.ABORT)]);
    outbox.onRunReleased("over");
  }
  expect(of("over")).toHaveLength(2_500);
  expect(outbox.size).toBe(0);
});

test("reports an effect that cannot be started, and drops the effects behind it", async () => {
  const { outbox, started, failed, of, state } = stage();
  state.throws = "70";
  outbox.execute(
    "a",
    Array.from({ length: 100 }, (_, index) => readLiteral(index)),
  );
  outbox.execute(
    "b",
    Array.from({ length: 70 }, (_, index) => readLiteral(index)),
  );
  await rest(started);
  expect(failed.map(String)).toEqual(["Error: planned"]);
  expect(of("a")).toHaveLength(70);
  expect(of("b")).toHaveLength(70);
  expect(outbox.size).toBe(0);
});
