import { cronRecurrence, parseCron, TimeZones } from "@flyte-ts/domain";
import { seededRandom } from "@flyte-ts/testing";
import { describe, expect, test } from "vitest";
import { type CatchUpPolicy, type Schedule, scheduleKey } from "../schedule.js";
import { type Replica, World } from "./world.js";

const SEEDS = Number(process.env.SCHEDULE_SEEDS ?? 4);
const YEARS = Number(process.env.SCHEDULE_YEARS ?? 1);
const BEGIN = Date.parse("2026-03-07T00:00:00Z");
const MINUTE = 60_000;
const DAY = 1440 * MINUTE;
const MISSED_AFTER = MINUTE;
const CLAIM = 15_000;

const zones = new TimeZones();

function schedule(text: string, catchUp: CatchUpPolicy): Schedule {
  const launchPlan = { project: "p", domain: "d", name: `${text} ${catchUp}`, version: "v" };
  const parsed = parseCron(text);
  if (!parsed.ok) throw new Error(parsed.problem);
  const recurrence = cronRecurrence(parsed.expression, { zones, zone: "UTC", from: BEGIN });
  return { key: scheduleKey(launchPlan), launchPlan, recurrence, zone: "UTC", activatedAt: BEGIN, catchUp, kickoffInput: "" };
}

function due({ recurrence }: Schedule, until: number): number[] {
  const times: number[] = [];
  for (let at = recurrence.next(BEGIN); at !== undefined && at <= until; at = recurrence.next(at)) times.push(at);
  return times;
}

/** When each run was started, by schedule and the run's time. */
type Created = Map<string, Map<number, number>>;

function roughWorld(seed: number, schedules: readonly Schedule[], refreshMs = 2_000): { world: World; created: Created } {
  const created: Created = new Map(schedules.map(({ key }) => [key, new Map<number, number>()]));
  const world: World = new World({
    random: seededRandom(seed),
    begin: BEGIN,
    schedules,
    isRough: true,
    refreshMs,
    onCreated: ({ key }, at) => created.get(key)?.set(at, world.time.now),
  });
  return { world, created };
}

/** Kills and stops replicas at random moments, also all at once; each is back within `backMs`. */
class Fleet {
  readonly #replicas: (Replica | undefined)[] = [];

  constructor(
    private readonly world: World,
    private readonly backMs: number,
    size = 3,
  ) {
    for (let i = 0; i < size; i++) this.#start(i);
  }

  #start(i: number): void {
    this.#replicas[i] = this.world.replica();
  }

  harass(until: number, everyMs: number): void {
    const { time, options } = this.world;
    const { random } = options;
    const strike = () => {
      if (time.now > until) return;
      for (let i = 0; i < this.#replicas.length; i++) {
        if (random() < 0.5) continue;
        if (random() < 0.3) this.#replicas[i]?.freeze(random() * this.backMs);
        else if (this.#replicas[i] !== undefined) {
          this.#replicas[i]?.kill();
          this.#replicas[i] = undefined;
          time.at(time.now + random() * this.backMs, () => this.#start(i));
        }
      }
      time.at(time.now + random() * everyMs, strike);
    };
    time.at(time.now + random() * everyMs, strike);
  }
}

const policies = ["all", "last", "none"] as const;
const seeds = Array.from({ length: SEEDS }, (_, seed) => seed);

describe.each(seeds)("seed %i", (seed) => {
  test("replicas that die and stop, each back in seconds: every run once, on every policy", async () => {
    const texts = ["* * * * *", "*/7 * * * *", "@every 20s", "TZ=America/New_York 30 1,2 * * *"];
    const schedules = policies.flatMap((policy) => texts.map((text) => schedule(text, policy)));
    const { world, created } = roughWorld(seed, schedules);
    const end = BEGIN + DAY / 6;
    new Fleet(world, 10_000).harass(end, 90_000);
    await world.time.until(end + 5 * MINUTE);
    for (const one of schedules) {
      const runs = created.get(one.key) as Map<number, number>;
      const expected = due(one, end);
      expect(
        [...runs.keys()].filter((at) => at <= end).toSorted((a, b) => a - b),
        one.launchPlan.name,
      ).toEqual(expected);
      for (const [at, startedAt] of runs) expect(startedAt - at, one.launchPlan.name).toBeGreaterThanOrEqual(-20);
    }
    // Without it nothing was tried twice, and the test would show nothing.
    expect(world.repeats).toBeGreaterThan(0);
  }, 120_000);

  test("outages of minutes to days: what is made up for is the policy's", async () => {
    const schedules = policies.flatMap((policy) => ["* * * * *", "0 */5 * * *"].map((text) => schedule(text, policy)));
    const { world, created } = roughWorld(seed + 1_000, schedules, 60_000);
    const { random } = world.options;
    let fleet = [0, 1, 2].map(() => world.replica());
    const outages: Outage[] = [];
    for (let i = 0; i < 6; i++) {
      await world.time.until(world.time.now + 20 * MINUTE + random() * 40 * MINUTE);
      const from = world.time.now;
      const to = from + 3 * MINUTE + random() ** 6 * DAY;
      outages.push({ from, to });
      const what = random();
      if (what < 0.34) for (const replica of fleet) replica.kill();
      else world.away.add(what < 0.67 ? "admin" : "database");
      await world.time.until(to);
      if (what < 0.34) fleet = [0, 1, 2].map(() => world.replica());
      world.away.clear();
    }
    const end = world.time.now + 10 * MINUTE;
    await world.time.until(end + 5 * MINUTE);
    for (const one of schedules) {
      const runs = new Map([...(created.get(one.key) as Map<number, number>)].filter(([at]) => at <= end));
      expect(breaches({ policy: one.catchUp, runs, due: due(one, end), outages }), one.launchPlan.name).toEqual([]);
    }
  }, 120_000);
});

interface Outage {
  readonly from: number;
  readonly to: number;
}

interface Course {
  readonly policy: CatchUpPolicy;
  /** When each run was started, by its time. */
  readonly runs: ReadonlyMap<number, number>;
  readonly due: readonly number[];
  readonly outages: readonly Outage[];
}

/** What in the course of things is against the policy. */
function breaches({ policy, runs, due: expected, outages }: Course): string[] {
  const wrong = [...runs.keys()].filter((at) => !expected.includes(at)).map((at) => `${at} was started and never due`);
  const isNear = (at: number) => outages.some(({ from, to }) => at > from - MISSED_AFTER && at <= to);
  const lacking = expected.filter((at) => !runs.has(at) && (policy === "all" || !isNear(at)));
  wrong.push(...lacking.map((at) => `${at} was not started`));
  const startedAt = (at: number) => runs.get(at) as number;
  switch (policy) {
    case "all":
      break;
    case "last":
      for (const { from, to } of outages) {
        const late = [...runs.keys()].filter((at) => at > from && at <= to && startedAt(at) > to);
        if (late.length > 1) wrong.push(`${late.length} were made up for after the outage until ${to}`);
        // The last one that was due, or, when starting that took its time, one that came after it.
        const last = expected.findLast((at) => at <= to);
        const isMadeUp = [...runs.keys()].some((at) => at >= (last ?? 0) && at <= to + 2 * MINUTE);
        if (last !== undefined && last >= from && !isMadeUp) wrong.push(`${last} was not made up for`);
      }
      break;
    case "none":
      for (const at of runs.keys()) if (startedAt(at) - at > MISSED_AFTER + CLAIM) wrong.push(`${at} was made up for`);
  }
  return wrong;
}

test(
  `${YEARS} years of every minute, where all sleep for weeks now and then: every run once, in order`,
  async () => {
    const random = seededRandom(7);
    const end = BEGIN + YEARS * 365 * DAY;
    let last = BEGIN;
    const world = new World({
      random,
      begin: BEGIN,
      schedules: [schedule("TZ=America/New_York * * * * *", "all")],
      isRough: false,
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
