import { simulateAttempt } from "@flyte-ts/task-plugin/harness";
import { expect, test } from "vitest";
import { manifest } from "./manifest.js";
import { OperatorWorld } from "./simulation/operator-world.js";

const SEEDS = Number(process.env["PLUGIN_SEEDS"] ?? 12);
/** A seed takes some 50 ms on a free machine. */
const TIMEOUT_MS = 60_000 + SEEDS * 1_000;

test.each(manifest.taskTypes)("%s tasks start one job and leave none, whatever fails", { timeout: TIMEOUT_MS }, async (taskType) => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const problems = await simulateAttempt(() => new OperatorWorld(taskType), seed);
    expect(problems, `PLUGIN_SEEDS: seed ${seed}`).toEqual([]);
  }
});
