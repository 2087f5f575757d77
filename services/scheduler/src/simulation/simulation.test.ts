import { seededRandom } from "@flyte-ts/testing";
import { describe, expect, test } from "vitest";
import { randomRestarts, randomOutages } from "./chaos-scenarios.js";
import { START, DAY, MINUTE, sampleSchedule } from "./sample-schedule.js";
import { World } from "./world.js";

const SEEDS = Number(process.env.SCHEDULE_SEEDS ?? 3);
const YEARS = Number(process.env.SCHEDULE_YEARS ?? 0.5);
const seeds = Array.from({ length: SEEDS }, (_, seed) => seed);

describe.each(seeds)("seed %i", (seed) => {
  test("replicas that crash and stop, each for seconds, start every run once, with every policy", async () => {
    const { problems, repeats } = await randomRestarts({ random: seededRandom(seed) });
    expect(problems).toEqual([]);
    expect(repeats).toBeGreaterThan(0);
  }, 120_000);

  test("outages of minutes to hours: the catch-up policy decides about missed runs", async () => {
    expect((await randomOutages({ random: seededRandom(seed + 1_000_000) })).problems).toEqual([]);
  }, 120_000);
});

test(
  `${YEARS} years of a run each minute, with occasional outages of weeks: every run starts once, in order`,
  async () => {
    const random = seededRandom(7);
    const end = START + YEARS * 365 * DAY;
    let last = START;
    const world = new World({
      random,
      start: START,
      schedules: [sampleSchedule("TZ=America/New_York * * * * *", "all")],
      faultsEnabled: false,
      refreshMs: 10 * DAY,
      onCreated: (_, at) => {
        if (at !== last + MINUTE || at > world.time.now) throw new Error(`run of ${at} after that of ${last}, at ${world.time.now}`);
        last = at;
      },
    });
    while (world.time.now < end) {
      const fleet = Array.from({ length: 1 + Math.floor(random() * 3) }, () => world.replica());
      await world.time.until(Math.min(world.time.now + random() * DAY, end));
      for (const replica of fleet) replica.kill();
      await world.time.until(Math.min(world.time.now + random() * 28 * DAY, end));
    }
    world.replica();
    await world.time.until(end + MINUTE - 1);
    expect(last).toBe(end);
  },
  60_000 + YEARS * 240_000,
);
