import { simulateAttempt, simulateSeeds } from "@flyte-ts/task-plugin/harness";
import { expect, test } from "vitest";
import { PodWorld } from "./simulation/pod-world.js";
import { type ReusedMistake, ReusedWorld } from "./simulation/reused-world.js";
import { WarmWorld } from "./simulation/warm-world.js";

const SEEDS = Number(process.env["PLUGIN_SEEDS"] ?? 30);
const WARM_SEEDS = Number(process.env["PLUGIN_SEEDS"] ?? 2_000);
/** A seed takes some 50 ms on a free machine. */
const TIMEOUT_MS = 60_000 + SEEDS * 1_000;
const WARM_TIMEOUT_MS = 60_000 + WARM_SEEDS * 1_000;
/** Seeds tried for a mistake; each is found by one of the first. */
const MISTAKE_SEEDS = 100;

test("a task starts one pod and leaves none, whatever fails", { timeout: TIMEOUT_MS }, async () => {
  expect(await simulateSeeds(() => new PodWorld(), { seeds: SEEDS })).toEqual([]);
});

test("a task takes one warm pod or starts one pod, and leaves none, whatever fails", { timeout: WARM_TIMEOUT_MS }, async () => {
  let takes = 0;
  for (let seed = 0; seed < WARM_SEEDS; seed++) {
    const world = new WarmWorld();
    const problems = await simulateAttempt(() => world, seed);
    expect(problems, `PLUGIN_SEEDS: seed ${seed}`).toEqual([]);
    takes += world.cluster.takes;
  }
  // Enough attempts take a warm pod; others start during the time in which earlier calls settle.
  expect(takes).toBeGreaterThan(WARM_SEEDS / 4);
});

test.each([
  ["takesAnyVersion", 600],
  ["leavesEarlierTakes", 600],
  ["forgetsUnansweredTakes", 0],
  ["ignoresEarlierCreations", 100],
  ["reservesNothing", 100],
] as const)("the simulation finds a pool that %s", { timeout: 300_000 }, async (mistake, from) => {
  const problems = await simulateSeeds(() => new WarmWorld(mistake), { from, seeds: MISTAKE_SEEDS });
  expect(problems).toEqual(expect.arrayContaining([expect.stringContaining("jobs were started")]));
});

/** Violations of one seed, also of the pods of others. */
async function reusedProblems(seed: number, mistake?: ReusedMistake) {
  const world = new ReusedWorld(mistake);
  world.hasOffer = seed % 2 === 1;
  const problems = await simulateAttempt(() => world, seed);
  return { problems: [...problems, ...world.violations], frees: world.frees, handOvers: world.handOvers };
}

test("a task takes one reused pod or starts one pod, and frees it, whatever fails", { timeout: WARM_TIMEOUT_MS }, async () => {
  let frees = 0;
  let handOvers = 0;
  for (let seed = 0; seed < WARM_SEEDS; seed++) {
    const found = await reusedProblems(seed);
    expect(found.problems, `PLUGIN_SEEDS: seed ${seed}`).toEqual([]);
    frees += found.frees;
    handOvers += found.handOvers;
  }
  expect([frees, handOvers]).toEqual([
    expect.toSatisfy((n: number) => n > WARM_SEEDS / 4),
    expect.toSatisfy((n: number) => n > WARM_SEEDS / 4),
  ]);
});

test.each([
  ["freesBeforeItsEndIsStored", 0, "before the end of its attempt was stored"],
  ["takesAnyVersion", 100, "was taken from another attempt"],
  ["freesAnyVersion", 400, "was taken from another attempt"],
  ["confusesEnds", 0, "a job runs after the attempt ended"],
  ["makesRoomByAnyVersion", 0, "of another attempt was deleted"],
] as const)("the simulation finds reused pods with the mistake %s", { timeout: 300_000 }, async (mistake, from, problem) => {
  const found: string[] = [];
  for (let seed = from; seed < from + MISTAKE_SEEDS && !found.some((each) => each.includes(problem)); seed++)
    found.push(...(await reusedProblems(seed, mistake)).problems);
  expect(found).toEqual(expect.arrayContaining([expect.stringContaining(problem)]));
});
