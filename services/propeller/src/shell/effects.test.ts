import { createLogger } from "@flyte-ts/telemetry";
import { expect, it } from "vitest";
import { Effects, type EffectsOptions } from "./effects.js";

it("has room again when what waited for writes no longer does", async () => {
  const logger = createLogger({ service: "test", level: "silent" });
  const effects = new Effects({ logger, now: () => 0 } as EffectsOptions);
  effects.noteHeld("a", 500);
  expect(effects.hasRoom("a")).toBe(true);
  effects.noteHeld("b", 500);
  expect(effects.hasRoom("a")).toBe(false);
  let told = false;
  const room = effects.room("a").then(() => {
    told = true;
  });
  effects.noteHeld("a", 501);
  await Promise.resolve();
  expect(told).toBe(false);
  effects.noteHeld("a", 0);
  await room;
  expect(effects.hasRoom("a")).toBe(true);
});

function asking(recorded: Promise<void>) {
  const asked: string[] = [];
  const observed: unknown[] = [];
  const answerer = ({ kind }: { readonly kind: string }) => {
    asked.push(kind);
    return Promise.resolve({ kind: "value" as const, value: "created" as const });
  };
  const state = { holds: true };
  const effects = new Effects({
    logger: createLogger({ service: "test", level: "silent" }),
    now: () => 0,
    holds: () => state.holds,
    events: { publish: () => Promise.resolve(), recorded: () => recorded },
    answerers: { createExecution: answerer, readExecution: answerer },
    observe: (_: string, observation: unknown) => observed.push(observation),
  } as unknown as EffectsOptions);
  const ask = (kind: string) => effects.perform("d/a", [{ kind: "call", id: kind, ask: { kind } } as never]);
  return { asked, observed, state, effects, ask };
}

it("creates a child when the events of its parent's node are recorded, and asks all else at once", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { asked, observed, effects, ask } = asking(promise);
  ask("createExecution");
  ask("readExecution");
  await Promise.resolve();
  expect(asked).toEqual(["readExecution"]);
  resolve();
  await effects.settled();
  expect(asked).toEqual(["readExecution", "createExecution"]);
  expect(observed).toHaveLength(2);
});

it("creates no child for a workflow that was given away while its events were on their way", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { asked, effects, ask, state } = asking(promise);
  ask("createExecution");
  state.holds = false;
  resolve();
  await effects.settled();
  expect(asked).toEqual([]);
});
