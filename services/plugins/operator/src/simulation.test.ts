import { simulateSeeds } from "@flyte-ts/task-plugin/harness";
import { expect, test } from "vitest";
import { manifest } from "./manifest.js";
import { MistakenWorld } from "./simulation/mistaken-world.js";
import { OperatorWorld } from "./simulation/operator-world.js";

const SEEDS = Number(process.env["PLUGIN_SEEDS"] ?? 12);
/** A seed takes some 50 ms on a free machine. */
const TIMEOUT_MS = 60_000 + SEEDS * 1_000;
/** Seeds tried for a mistake; each is found by one of the first. */
const MISTAKE_SEEDS = 100;

test.each(manifest.taskTypes)("%s tasks start one job and leave none, whatever fails", { timeout: TIMEOUT_MS }, async (taskType) => {
  expect(await simulateSeeds(() => new OperatorWorld(taskType), { seeds: SEEDS })).toEqual([]);
});

test.each([
  ["forgetsUnansweredCreations", 250, "a job runs after the attempt ended with ABORTED"],
  ["createsUnderNewNames", 0, "jobs were started"],
  ["pretendsAborted", 0, "a job runs after the attempt ended with ABORTED"],
  ["abortsWithoutWaiting", 0, "a job runs after the attempt ended with ABORTED"],
  ["neverReports", 0, "the attempt did not end"],
] as const)("the simulation finds a controller that %s", { timeout: 300_000 }, async (mistake, from, problem) => {
  const problems = await simulateSeeds(() => new MistakenWorld("pytorch", mistake), { from, seeds: MISTAKE_SEEDS });
  expect(problems).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
});
