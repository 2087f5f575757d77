import { simulateAttempt } from "@flyte-ts/task-plugin/harness";
import { expect, test } from "vitest";
import { PodWorld } from "./simulation/pod-world.js";

const SEEDS = Number(process.env["PLUGIN_SEEDS"] ?? 30);
/** A seed takes some 50 ms on a free machine. */
const TIMEOUT_MS = 60_000 + SEEDS * 1_000;

test("a task starts one pod and leaves none, whatever fails", { timeout: TIMEOUT_MS }, async () => {
  for (let seed = 0; seed < SEEDS; seed++) {
    const problems = await simulateAttempt(() => new PodWorld(), seed);
    expect(problems, `PLUGIN_SEEDS: seed ${seed}`).toEqual([]);
  }
});
