import type { Schedule } from "../schedule.js";
import { findViolations, type Outage } from "./violations.js";
import { START, DAY, dueTimes, MINUTE, sampleSchedule } from "./sample-schedule.js";
import { type Replica, type Fault, World } from "./world.js";

export interface ScenarioResult {
  /** Violations, each with its schedule. */
  readonly problems: readonly string[];
  /** Number of requests for an existing run: without any, idempotency was not tested. */
  readonly repeats: number;
}

export interface ScenarioOptions {
  readonly random: () => number;
  /** A planted bug. */
  readonly fault?: Fault;
}

const policies = ["all", "last", "none"] as const;
/** Time for unfinished starts at the end. */
const REST_MS = 5 * MINUTE;

/**
 * Three replicas that crash and pause, also all at once, each back within ten seconds: no run may
 * be skipped under any policy.
 */
export async function randomRestarts({ random, fault = {} }: ScenarioOptions): Promise<ScenarioResult> {
  const texts = ["* * * * *", "*/7 * * * *", "@every 20s", "TZ=America/New_York 30 1,2 * * *"];
  const scenario = new Scenario(
    policies.flatMap((policy) => texts.map((text) => sampleSchedule(text, policy))),
    { random, fault, refreshMs: 2_000 },
  );
  const { world } = scenario;
  const { time } = world;
  const end = START + DAY / 6;
  const replicas: (Replica | undefined)[] = [world.replica(), world.replica(), world.replica()];
  const backMs = 10_000;
  const strike = () => {
    if (time.now > end) return;
    for (const [i, replica] of replicas.entries()) {
      if (random() < 0.5 || replica === undefined) continue;
      if (random() < 0.3) replica.freeze(random() * backMs);
      else {
        replica.kill();
        replicas[i] = undefined;
        time.at(time.now + random() * backMs, () => {
          replicas[i] = world.replica();
        });
      }
    }
    time.at(time.now + random() * 90_000, strike);
  };
  time.at(time.now + random() * 90_000, strike);
  await time.until(end + REST_MS);
  return scenario.result(end, []);
}

/** All replicas, admin or the database down for minutes to hours, six times. */
export async function randomOutages({ random, fault = {} }: ScenarioOptions): Promise<ScenarioResult> {
  const texts = ["* * * * *", "0 */5 * * *"];
  const scenario = new Scenario(
    policies.flatMap((policy) => texts.map((text) => sampleSchedule(text, policy))),
    { random, fault, refreshMs: MINUTE },
  );
  const { world } = scenario;
  const { time } = world;
  const start = () => [world.replica(), world.replica(), world.replica()];
  let replicas = start();
  const outages: Outage[] = [];
  for (let i = 0; i < 6; i++) {
    await time.until(time.now + 20 * MINUTE + random() * 40 * MINUTE);
    const from = time.now;
    const to = from + 3 * MINUTE + random() ** 6 * (DAY / 4);
    outages.push({ from, to });
    const what = (["replicas", "admin", "database"] as const)[Math.floor(random() * 3)];
    if (what === "replicas") for (const replica of replicas) replica.kill();
    else if (what !== undefined) world.unavailable.add(what);
    await time.until(to);
    if (what === "replicas") replicas = start();
    world.unavailable.clear();
  }
  const end = time.now + 10 * MINUTE;
  await time.until(end + REST_MS);
  return scenario.result(end, outages);
}

/** A world and the runs started in it. */
class Scenario {
  readonly world: World;
  readonly #runs = new Map<string, Map<number, number[]>>();

  constructor(
    private readonly schedules: readonly Schedule[],
    options: { readonly random: () => number; readonly fault: Fault; readonly refreshMs: number },
  ) {
    this.world = new World({
      ...options,
      start: START,
      schedules,
      faultsEnabled: true,
      onCreated: ({ key }, at) => {
        const runs = this.#runs.get(key) ?? new Map<number, number[]>();
        this.#runs.set(key, runs.set(at, [...(runs.get(at) ?? []), this.world.time.now]));
      },
    });
  }

  result(end: number, outages: readonly Outage[]): ScenarioResult {
    const problems = this.schedules.flatMap((schedule) => {
      const runs = new Map([...(this.#runs.get(schedule.key) ?? [])].filter(([at]) => at <= end));
      const found = findViolations({ policy: schedule.catchUp, due: dueTimes(schedule, end), runs, outages });
      return found.map((problem) => `${schedule.launchPlan.name}: ${problem}`);
    });
    return { problems, repeats: this.world.repeats };
  }
}
