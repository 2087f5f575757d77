import { createLogger } from "@flyte-ts/telemetry";
import { expect, it } from "vitest";
import { EffectExecutor, type EffectExecutorOptions } from "./effect-executor.js";

it("has capacity again when the effects that waited for writes are released", async () => {
  const logger = createLogger({ service: "test", level: "silent" });
  const effects = new EffectExecutor({ logger, now: () => 0 } as EffectExecutorOptions);
  effects.setDeferred("a", 500);
  expect(effects.hasCapacity("a")).toBe(true);
  effects.setDeferred("b", 500);
  expect(effects.hasCapacity("a")).toBe(false);
  let released = false;
  const room = effects.whenCapacity("a").then(() => {
    released = true;
  });
  effects.setDeferred("a", 501);
  await Promise.resolve();
  expect(released).toBe(false);
  effects.setDeferred("a", 0);
  await room;
  expect(effects.hasCapacity("a")).toBe(true);
});

function asking(recorded: Promise<void>) {
  const asked: string[] = [];
  const observed: unknown[] = [];
  const respond = ({ kind }: { readonly kind: string }) => {
    asked.push(kind);
    return Promise.resolve({ kind: "value" as const, value: "created" as const });
  };
  const state = { holds: true };
  const effects = new EffectExecutor({
    logger: createLogger({ service: "test", level: "silent" }),
    now: () => 0,
    holdsWorkflow: () => state.holds,
    events: { publish: () => Promise.resolve(), whenRecorded: () => recorded },
    callHandlers: { createExecution: respond, readExecution: respond },
    observe: (_: string, observation: unknown) => observed.push(observation),
  } as unknown as EffectExecutorOptions);
  const ask = (kind: string) => effects.execute("d/a", [{ kind: "call", id: kind, call: { kind } } as never]);
  return { asked, observed, state, effects, ask };
}

it("creates a child when the events of its parent's node are recorded, and starts all other calls at once", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { asked, observed, effects, ask } = asking(promise);
  ask("createExecution");
  ask("readExecution");
  await Promise.resolve();
  expect(asked).toEqual(["readExecution"]);
  resolve();
  await effects.drained();
  expect(asked).toEqual(["readExecution", "createExecution"]);
  expect(observed).toHaveLength(2);
});

it("creates no child for a workflow that was released while its events were being recorded", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { asked, effects, ask, state } = asking(promise);
  ask("createExecution");
  state.holds = false;
  resolve();
  await effects.drained();
  expect(asked).toEqual([]);
});

it("leaves capacity to others and does not wait at the end while thousands of signals are read", async () => {
  const { promise, resolve } = Promise.withResolvers<{ kind: "value"; value: undefined }>();
  const observed: unknown[] = [];
  const effects = new EffectExecutor({
    logger: createLogger({ service: "test", level: "silent" }),
    now: () => 0,
    isShared: () => true,
    holdsWorkflow: () => true,
    events: { publish: () => Promise.resolve() },
    callHandlers: { awaitSignal: () => promise },
    observe: (_: string, observation: unknown) => observed.push(observation),
  } as unknown as EffectExecutorOptions);
  for (let index = 0; index < 2_000; index++)
    effects.execute("d/a", [{ kind: "call", id: `c${index}`, call: { kind: "awaitSignal" } } as never]);
  expect(effects.hasCapacity("d/b")).toBe(true);
  await effects.drained();
  expect(observed).toEqual([]);
  resolve({ kind: "value", value: undefined });
  await expect.poll(() => observed.length).toBe(2_000);
});

it.each([
  ["calls to admin and the data catalog", { kind: "call", id: "c", call: { kind: "readExecution" } }],
  ["reads of blobs", { kind: "readOutputs", uri: "s3://b/o" }],
])("lets thousands of %s take capacity from their own execution only", async (_, effect) => {
  const { promise, resolve } = Promise.withResolvers<{ kind: "value"; value: undefined }>();
  const observed: unknown[] = [];
  const effects = new EffectExecutor({
    logger: createLogger({ service: "test", level: "silent" }),
    now: () => 0,
    isShared: () => true,
    holdsWorkflow: () => true,
    events: { publish: () => Promise.resolve() },
    callHandlers: { readExecution: () => promise },
    outputs: { readOutputs: () => promise },
    observe: (key: string, observation: unknown) => observed.push([key, observation]),
  } as unknown as EffectExecutorOptions);
  for (let index = 0; index < 2_000; index++) effects.execute("d/a", [effect as never]);
  expect(effects.hasCapacity("d/b")).toBe(true);
  expect(effects.hasCapacity("d/a")).toBe(false);
  let isDrained = false;
  const drained = effects.drained().then(() => (isDrained = true));
  const capacity = effects.whenCapacity("d/a");
  await Promise.resolve();
  expect(isDrained).toBe(false);
  resolve({ kind: "value", value: undefined });
  await capacity;
  expect(effects.hasCapacity("d/a")).toBe(true);
  await drained;
  expect(observed).toHaveLength(2_000);
});
