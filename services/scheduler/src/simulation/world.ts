import { createLogger, Metrics } from "@flyte-ts/telemetry";
import type { AdminClient } from "../admin-client.js";
import { schedulerConfigSchema } from "../config.js";
import { schedulerMetrics } from "../metrics.js";
import type { WatermarkStore } from "../watermark-store.js";
import type { Schedule } from "../schedule.js";
import { Scheduler, type SchedulerDeps } from "../scheduler.js";
import { memoryWatermarkStore, type Rows } from "./memory-watermark-store.js";
import { VirtualTime } from "./virtual-time.js";

/**
 * Settings of every replica, except for the poll interval; missed runs are started without a rate
 * limit.
 */
export const simulatedConfig = { ...schedulerConfigSchema.parse({}), catchUp: { perSecond: 1_000_000 } };

export interface WorldOptions {
  readonly random: () => number;
  readonly start: number;
  readonly schedules: readonly Schedule[];
  /** True: messages are delayed and lost; false: instant and reliable. */
  readonly faultsEnabled: boolean;
  /** Called once for every created execution. */
  readonly onCreated: (schedule: Schedule, at: number) => void;
  readonly refreshMs: number;
  readonly fault?: Fault;
}

/** Planted bugs that the simulation must find. */
export interface Fault {
  readonly store?: (store: WatermarkStore) => WatermarkStore;
  readonly schedule?: (schedule: Schedule) => Schedule;
  /** Names of executions are not remembered, so repeats create duplicates. */
  readonly allowDuplicates?: boolean;
}

type Part = "admin" | "database";

/** Schedules, admin and the database, which outlive the replicas, with their faults. */
export class World {
  readonly time: VirtualTime;
  readonly unavailable = new Set<Part>();
  /** Number of requests whose execution existed already. */
  repeats = 0;
  readonly #rows: Rows = new Map();
  // Created runs of the last hours by schedule, to recognize repeats.
  readonly #made = new Map<string, Set<number>>();
  #replicas = 0;

  constructor(readonly options: WorldOptions) {
    this.time = new VirtualTime(options.start);
  }

  /** Starts another replica, with a small clock skew. */
  replica(): Replica {
    return new Replica(this, `r${this.#replicas++}`);
  }

  store(replica: string, claimMs: number): WatermarkStore {
    return memoryWatermarkStore(this.#rows, { replica, claimMs, now: () => this.time.now });
  }

  create(schedule: Schedule, at: number): "started" | "exists" {
    let made = this.#made.get(schedule.key);
    if (made === undefined) this.#made.set(schedule.key, (made = new Set()));
    if (made.has(at) && this.options.fault?.allowDuplicates !== true) {
      this.repeats++;
      return "exists";
    }
    made.add(at);
    if (made.size > 2_000) for (const old of [...made].slice(0, 1_000)) made.delete(old);
    this.options.onCreated(schedule, at);
    return "started";
  }
}

/** A process that can be killed or paused at any moment. */
export class Replica {
  readonly #world: World;
  readonly #skew: number;
  readonly #scheduler: Scheduler;
  #alive = true;
  #frozenUntil = 0;

  constructor(world: World, name: string) {
    this.#world = world;
    const { random, faultsEnabled, schedules, refreshMs, fault = {} } = world.options;
    this.#skew = faultsEnabled ? Math.round((random() - 0.5) * 40) : 0;
    const { time } = world;
    const clock: SchedulerDeps["clock"] = {
      now: () => time.now + this.#skew,
      elapsed: () => time.now,
      schedule: (ms, callback) => time.at(time.now + ms, () => this.#deliver(callback)),
    };
    const own = world.store(name, simulatedConfig.claimMs);
    const store = fault.store?.(own) ?? own;
    const faulty = schedules.map((schedule) => fault.schedule?.(schedule) ?? schedule);
    const watermarks: WatermarkStore = {
      ensureRows: (known) => this.#ask("database", () => store.ensureRows(known)),
      adoptActivation: (schedule, recorded) => this.#ask("database", () => store.adoptActivation(schedule, recorded)),
      acquireLease: (schedule, watermark) => this.#ask("database", () => store.acquireLease(schedule, watermark)),
      advance: (schedule, through) => this.#ask("database", () => store.advance(schedule, through)),
      prune: (others, days) => store.prune(others, days),
    };
    const admin: AdminClient = {
      listIfChanged: (known) => this.#ask("admin", async () => (known === "1" ? undefined : { revision: "1", schedules: faulty })),
      start: (schedule, at, deadlineMs) => this.#ask("admin", async () => ({ outcome: world.create(schedule, at) }), deadlineMs),
    };
    this.#scheduler = new Scheduler({
      config: { ...simulatedConfig, refreshMs },
      admin,
      watermarks,
      clock,
      random,
      metrics: schedulerMetrics(new Metrics()),
      logger: createLogger({ service: "test", level: "silent" }),
    });
    this.#scheduler.start();
  }

  /** Drops all pending answers; requests in flight may still arrive. */
  kill(): void {
    this.#alive = false;
  }

  /** Pauses the process, which resumes without knowing it. */
  freeze(ms: number): void {
    this.#frozenUntil = this.#world.time.now + ms;
  }

  #deliver(callback: () => void): void {
    if (!this.#alive) return;
    const { time } = this.#world;
    if (this.#frozenUntil > time.now) time.at(this.#frozenUntil, () => this.#deliver(callback));
    else callback();
  }

  /** Delays a request and its answer, and may lose either. */
  #ask<T>(part: Part, work: () => Promise<T>, deadlineMs = 5_000): Promise<T> {
    const { time, unavailable, options } = this.#world;
    const { faultsEnabled, random } = options;
    const attempt = () => (unavailable.has(part) ? Promise.reject(new Error(`${part} is unavailable`)) : work());
    if (!faultsEnabled) return this.#alive ? attempt() : new Promise(() => undefined);
    const slow = random() < 0.02;
    const delay = () => (slow ? random() * (deadlineMs / 2 - 1) : 1 + random() * 10);
    const draw = random();
    return new Promise((resolve, reject) => {
      const fail = () => this.#deliver(() => reject(new Error("no answer")));
      time.at(time.now + delay(), () => {
        if (draw < 0.01) time.at(time.now + deadlineMs, fail);
        else {
          attempt().then(
            (value) => time.at(time.now + delay(), draw < 0.02 ? fail : () => this.#deliver(() => resolve(value))),
            (error: unknown) => time.at(time.now + delay(), () => this.#deliver(() => reject(error as Error))),
          );
        }
      });
    });
  }
}
