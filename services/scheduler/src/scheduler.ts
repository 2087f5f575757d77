import { scheduledExecutionName } from "@flyte-ts/domain";
import { LogSampler, type Logger } from "@flyte-ts/telemetry";
import type { AdminApi } from "./admin-api.js";
import type { SchedulerConfig } from "./config.js";
import { type Decision, decide } from "./decide.js";
import { type Backoff, backoffDelay, DelayQueue, type Time, TokenBucket } from "@flyte-ts/async";
import type { RunOutcome, SchedulerMetrics, Trying } from "./metrics.js";
import type { ProgressStore } from "./progress.js";
import { type Schedule, scheduleName } from "./schedule.js";

export interface SchedulerDeps {
  readonly config: Pick<SchedulerConfig, "refreshMs" | "concurrency" | "claimMs" | "missedAfterMs" | "catchUp"> & {
    readonly admin: Pick<SchedulerConfig["admin"], "timeoutMs">;
  };
  readonly admin: AdminApi;
  readonly progress: ProgressStore;
  readonly clock: Pick<Time, "now" | "elapsed" | "schedule">;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly metrics: SchedulerMetrics;
  readonly logger: Logger;
}

/** Initial delay before another replica's claim is checked again, ms; it grows until the claim ends. */
const CLAIM_LOOK_MS = 1_000;
/** Remaining time of a claim below which no run is started, ms. */
const CLAIM_REST_MS = 1_000;
const RETRIES: Backoff = { initialMs: 250, maxMs: 30_000, jitter: 0.5 };
const FORGET_AFTER_DAYS = 7;
const FORGET_EVERY_MS = 3_600_000;
/** Minimum interval between logs of failures of one kind and schedule, ms. */
const LOG_EVERY_MS = 30_000;
/** Interval of polls until admin answers for the first time, ms. */
const FIRST_LIST_MS = 200;

interface Entry {
  readonly schedule: Schedule;
  doneThrough: number;
  /** Time of the due run that is not done. */
  due: number | undefined;
  failures: number;
  /** Consecutive checks that found another replica's claim. */
  looks: number;
  /** The rate limiter's delay for a missed run has passed. */
  mayMakeUp: boolean;
  gone: boolean;
}

/**
 * One replica. It knows all schedules, and starts a due run when it gets the claim on it: a row of the schedule's
 * progress that one replica holds at a time. It first creates the execution, under a name derived from schedule and
 * time, then records the progress; after a crash in between another replica repeats the start, which has no effect.
 */
export class Scheduler {
  #entries = new Map<string, Entry>();
  readonly #queue = new DelayQueue<Entry>();
  readonly #limit: TokenBucket;
  readonly #sampler: LogSampler;
  #revision: string | undefined;
  #listedAt: number | undefined;
  #forgotAt: number | undefined;
  #working = 0;
  #stopped = false;
  #cancelWake: (() => void) | undefined;
  #cancelRefresh: (() => void) | undefined;
  #onIdle: (() => void) | undefined;

  constructor(private readonly deps: SchedulerDeps) {
    this.#limit = permitsOfASecond(deps.config.catchUp.perSecond);
    this.#sampler = new LogSampler({ intervalMs: LOG_EVERY_MS, now: () => deps.clock.elapsed() });
  }

  start(): void {
    void this.#refresh();
  }

  /** Starts nothing more and waits for starts in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancelWake?.();
    this.#cancelRefresh?.();
    if (this.#working > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
  }

  /** Reason why nothing can be started yet. */
  get problem(): string | undefined {
    return this.#listedAt === undefined ? "starting: waiting for admin to tell the schedules" : undefined;
  }

  get schedules(): number {
    return this.#entries.size;
  }

  get overdueMs(): number {
    const now = this.deps.clock.now();
    let oldest = now;
    for (const { due } of this.#entries.values()) if (due !== undefined && due < oldest) oldest = due;
    return now - oldest;
  }

  get silenceMs(): number {
    return this.#listedAt === undefined ? 0 : this.deps.clock.elapsed() - this.#listedAt;
  }

  /** Polls admin. */
  async #refresh(): Promise<void> {
    const { admin, clock, config, logger, metrics, random } = this.deps;
    try {
      const list = await admin.changedSchedules(this.#revision);
      if (list !== undefined) {
        await this.#take(list.schedules);
        this.#revision = list.revision;
      }
      this.#listedAt = clock.elapsed();
    } catch (error) {
      metrics.failures.inc({ what: "list" satisfies Trying });
      const left = this.#sampler.sample("list");
      if (left !== undefined) logger.warn({ error: String(error), left }, "the schedules cannot be read, those known go on");
    }
    if (this.#stopped) return;
    // Nothing is known before the first answer, and admin may be about to start.
    const pause = this.#listedAt === undefined ? Math.min(config.refreshMs, FIRST_LIST_MS) : config.refreshMs;
    this.#cancelRefresh = clock.schedule(pause * (0.9 + 0.2 * random()), () => void this.#refresh());
    this.#wake();
  }

  async #take(schedules: readonly Schedule[]): Promise<void> {
    const { clock, progress, logger } = this.deps;
    const changed = schedules.filter((schedule) => !isSame(this.#entries.get(schedule.key)?.schedule, schedule));
    const known = changed.length === 0 ? new Map<string, never>() : await progress.open(changed);
    const before = this.#entries;
    const after = new Map<string, Entry>();
    for (const schedule of schedules) {
      const kept = before.get(schedule.key);
      if (kept !== undefined && isSame(kept.schedule, schedule)) {
        after.set(schedule.key, kept);
        continue;
      }
      const doneThrough = known.get(schedule.key)?.doneThrough ?? schedule.activatedAt;
      const entry: Entry = { schedule, doneThrough, due: undefined, failures: 0, looks: 0, mayMakeUp: false, gone: false };
      after.set(schedule.key, entry);
      this.#queue.set(entry, 0);
    }
    for (const [key, entry] of before) {
      if (after.get(key) === entry) continue;
      entry.gone = true;
      this.#queue.delete(entry);
    }
    this.#entries = after;
    logger.info({ schedules: after.size, changed: changed.length }, "schedules in force");
    if (this.#forgotAt !== undefined && clock.elapsed() - this.#forgotAt < FORGET_EVERY_MS) return;
    await progress.forget(schedules, FORGET_AFTER_DAYS);
    this.#forgotAt = clock.elapsed();
  }

  /** Starts due runs and schedules the next wake-up. */
  #wake(): void {
    const { clock, config } = this.deps;
    this.#cancelWake?.();
    this.#cancelWake = undefined;
    while (!this.#stopped && this.#working < config.concurrency) {
      const now = clock.now();
      const entry = this.#queue.popDue(now);
      if (entry === undefined) {
        const next = this.#queue.nextDueAt();
        // Bounded, since the clock may be set.
        if (next !== undefined) this.#cancelWake = clock.schedule(Math.min(next - now, config.refreshMs), () => this.#wake());
        return;
      }
      this.#attend(entry);
    }
  }

  #attend(entry: Entry): void {
    const decision = this.#decide(entry);
    if (decision.kind === "never") return;
    if (decision.kind === "wait") {
      this.#queue.set(entry, decision.until);
      return;
    }
    this.#working++;
    void this.#carryOut(entry, decision).then((again) => {
      this.#working--;
      if (this.#stopped && this.#working === 0) this.#onIdle?.();
      if (!entry.gone) this.#queue.set(entry, again);
      this.#wake();
    });
  }

  #decide(entry: Entry): Decision {
    const { missedAfterMs } = this.deps.config;
    const decision = decide(entry.schedule, { doneThrough: entry.doneThrough, now: this.deps.clock.now(), missedAfterMs });
    entry.due = decision.kind === "start" || decision.kind === "skip" ? decision.from : undefined;
    return decision;
  }

  /** Resolves with the time at which to evaluate the schedule again. */
  async #carryOut(entry: Entry, decision: Extract<Decision, { kind: "start" | "skip" }>): Promise<number> {
    const { clock } = this.deps;
    let trying: Trying = "claim";
    try {
      const isMadeUp = decision.kind === "start" && decision.isMissed;
      const wait = isMadeUp && !entry.mayMakeUp ? this.#limit.reserve(clock.elapsed()) : 0;
      entry.mayMakeUp = wait > 0;
      if (wait > 0) return clock.now() + wait;
      const claimedAt = clock.elapsed();
      const again = await this.#claim(entry);
      if (again !== undefined) return again;
      if (decision.kind === "skip") {
        await this.#advance(entry, decision.through);
        this.#leftOut(entry.schedule, decision.from, decision.through + 1);
        return clock.now();
      }
      // Others may act when the claim has ended: no request may be in flight then.
      const left = this.deps.config.claimMs - (clock.elapsed() - claimedAt) - CLAIM_REST_MS;
      if (left <= 0) return clock.now();
      trying = "start";
      await this.#start(entry.schedule, decision.at, Math.min(left, this.deps.config.admin.timeoutMs));
      trying = "record";
      await this.#advance(entry, decision.at);
      if (decision.from !== decision.at) this.#leftOut(entry.schedule, decision.from, decision.at);
      return clock.now();
    } catch (error) {
      return this.#failed(entry, trying, error);
    }
  }

  /** Undefined when this replica has the claim; otherwise the time of the next check. */
  async #claim(entry: Entry): Promise<number | undefined> {
    const { clock, progress } = this.deps;
    const claim = await progress.claim(entry.schedule, entry.doneThrough);
    const { looks } = entry;
    entry.looks = 0;
    if (claim.won) return undefined;
    const there = claim.progress;
    if (there === undefined) {
      // Handled like a new schedule, with the next list.
      this.#entries.delete(entry.schedule.key);
      this.#revision = undefined;
      entry.gone = true;
      throw new Error("nothing is recorded of this schedule any more");
    }
    if (there.activatedAt !== entry.schedule.activatedAt) {
      // The next list should contain it.
      throw new Error(`an activation at ${new Date(there.activatedAt).toISOString()} is recorded, admin tells another`);
    }
    if (there.doneThrough !== entry.doneThrough) {
      entry.doneThrough = there.doneThrough;
      entry.failures = 0;
      return clock.now();
    }
    entry.looks = looks + 1;
    return clock.now() + backoffDelay({ initialMs: CLAIM_LOOK_MS, maxMs: Math.max(there.claimedForMs, 1) }, looks);
  }

  async #start(schedule: Schedule, at: number, deadlineMs: number): Promise<void> {
    const { admin, clock, logger, metrics } = this.deps;
    const { outcome, reason } = await admin.start(schedule, at, deadlineMs);
    metrics.runs.inc({ outcome: outcome satisfies RunOutcome });
    const lateMs = clock.now() - at;
    if (outcome === "started") metrics.lateness.observe(lateMs / 1000);
    const fields = {
      execution: [schedule.launchPlan.project, schedule.launchPlan.domain, scheduledExecutionName(schedule.launchPlan, at)].join("/"),
      launchPlan: scheduleName(schedule.launchPlan),
      scheduledAt: new Date(at).toISOString(),
      lateMs,
      outcome,
    };
    if (outcome === "refused") logger.error({ ...fields, error: reason }, "a run was refused, it is not tried again");
    else logger.info(fields, "a run is done");
  }

  async #advance(entry: Entry, through: number): Promise<void> {
    await this.deps.progress.advance(entry.schedule, through);
    entry.doneThrough = through;
    entry.due = undefined;
    entry.failures = 0;
  }

  #leftOut(schedule: Schedule, from: number, before: number): void {
    const { logger, metrics } = this.deps;
    let count = 0;
    // Limits the count: years of minutes need not be counted to the last one.
    for (let at: number | undefined = from; at !== undefined && at < before && count < 10_000; at = schedule.recurrence.next(at)) count++;
    metrics.runs.inc({ outcome: "left_out" satisfies RunOutcome }, count);
    const fields = { launchPlan: scheduleName(schedule.launchPlan), catchUp: schedule.catchUp, count, from: new Date(from).toISOString() };
    logger.warn(fields, "missed runs are left out, as the schedule's policy says");
  }

  #failed(entry: Entry, what: Trying, error: unknown): number {
    const { clock, logger, metrics, random } = this.deps;
    metrics.failures.inc({ what });
    const delayMs = backoffDelay(RETRIES, entry.failures, random);
    entry.failures++;
    const launchPlan = scheduleName(entry.schedule.launchPlan);
    const left = this.#sampler.sample(launchPlan);
    if (left !== undefined) logger.warn({ launchPlan, what, error: String(error), left }, "a run cannot be started now, it is tried again");
    return clock.now() + delayMs;
  }
}

/** Permits of one second may be saved up. */
function permitsOfASecond(perSecond: number): TokenBucket {
  return new TokenBucket({ burst: Math.max(perSecond, 1), intervalMs: 1_000 / perSecond });
}

/** A version's expression never changes, but other fields may. */
function isSame(a: Schedule | undefined, b: Schedule): boolean {
  return (
    a !== undefined && a.activatedAt === b.activatedAt && a.catchUp === b.catchUp && a.kickoffInput === b.kickoffInput && a.zone === b.zone
  );
}
