import { createLogger } from "@flyte-ts/telemetry";
import { expect, it } from "vitest";
import { Effects, type EffectsOptions } from "./effects.js";

it("has room again when what waited for writes no longer does", async () => {
  const logger = createLogger({ service: "test", level: "silent" });
  const effects = new Effects({ logger, now: () => 0 } as EffectsOptions);
  effects.noteHeld("a", 500);
  expect(effects.hasRoom).toBe(true);
  effects.noteHeld("b", 500);
  expect(effects.hasRoom).toBe(false);
  let told = false;
  const room = effects.room().then(() => {
    told = true;
  });
  effects.noteHeld("a", 501);
  await Promise.resolve();
  expect(told).toBe(false);
  effects.noteHeld("a", 0);
  await room;
  expect(effects.hasRoom).toBe(true);
});
