import { scheduledExecutionName } from "@flyte-ts/domain/name";
import { LogSampler, type Logger } from "@flyte-ts/telemetry";
import type { AdminClient } from "./admin-client.js";
import type { SchedulerConfig } from "./config.js";
import { type Backoff, backoffDelay, DelayQueue, type Time, TokenBucket } from "@flyte-ts/async";
import { type ScheduleAction, nextAction } from "./next-action.js";
import type { RunOutcome, SchedulerMetrics, Operation } from "./metrics.js";
import type { Watermark, WatermarkStore } from "./watermark-store.js";
import { type Schedule, scheduleName } from "./schedule.js";

export interface SchedulerDeps {
  readonly config: Pick<SchedulerConfig, "refreshMs" | "concurrency" | "claimMs" | "missedAfterMs" | "catchUp"> & {
    readonly admin: Pick<SchedulerConfig["admin"], "timeoutMs">;
  };
  readonly admin: AdminClient;
  readonly watermarks: WatermarkStore;
  readonly clock: Pick<Time, "now" | "elapsed" | "schedule">;
  /** A number in [0, 1). */
  readonly random: () => number;
  readonly metrics: SchedulerMetrics;
  readonly logger: Logger;
}

/**
 * Initial delay before another replica's claim is checked again, ms; it grows until the claim ends.
 */
const LEASE_POLL_MS = 1_000;
/** Remaining time of a claim below which no run is started, ms. */
const LEASE_MARGIN_MS = 1_000;
const RETRY_BACKOFF: Backoff = { initialMs: 250, maxMs: 30_000, jitter: 0.5 };
const RETENTION_DAYS = 7;
const PRUNE_EVERY_MS = 3_600_000;
/** Minimum interval between logs of failures of one kind and schedule, ms. */
const LOG_EVERY_MS = 30_000;
/** Interval of polls until admin answers for the first time, ms. */
const FIRST_LIST_RETRY_MS = 200;

interface Entry {
  readonly schedule: Schedule;
  watermark: number;
  /** Time of the due run that is not done. */
  due: number | undefined;
  failures: number;
  /** Consecutive checks that found another replica's claim. */
  leasePolls: number;
  /** The rate limiter's delay for a missed run has passed. */
  rateLimitCleared: boolean;
  /** Recorded activation that is later than the schedule's; undefined when they agree. */
  laterActivation: number | undefined;
  removed: boolean;
}

/**
 * One replica. It knows all schedules, and starts a due run when it gets the claim on it: a row of
 * the schedule's progress that one replica holds at a time. It first creates the execution, under a
 * name derived from schedule and time, then records the progress; after a crash in between another
 * replica repeats the start, which has no effect.
 */
export class Scheduler {
  #entries = new Map<string, Entry>();
  readonly #queue = new DelayQueue<Entry>();
  readonly #limit: TokenBucket;
  readonly #sampler: LogSampler;
  #revision: string | undefined;
  #startedAt: number | undefined;
  #listedAt: number | undefined;
  #prunedAt: number | undefined;
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
    this.#startedAt = this.deps.clock.elapsed();
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
    return this.#listedAt === undefined ? "starting: waiting for the schedules from admin" : undefined;
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

  /** Time since the last list from admin, ms; since the start before the first list. */
  get listAgeMs(): number {
    const now = this.deps.clock.elapsed();
    return now - (this.#listedAt ?? this.#startedAt ?? now);
  }

  /** Polls admin. */
  async #refresh(): Promise<void> {
    const { admin, clock, config, logger, metrics, random } = this.deps;
    try {
      const list = await admin.listIfChanged(this.#revision);
      if (list !== undefined) {
        await this.#replaceSchedules(list.schedules);
        // A schedule that disagrees with its progress needs the next list, even an unchanged one.
        const disagrees = [...this.#entries.values()].some(({ laterActivation }) => laterActivation !== undefined);
        this.#revision = disagrees ? undefined : list.revision;
      }
      this.#listedAt = clock.elapsed();
    } catch (error) {
      metrics.failures.inc({ what: "list" satisfies Operation });
      const left = this.#sampler.sample("list");
      if (left !== undefined)
        logger.warn({ error: String(error), left }, "the schedules could not be read from admin; known schedules continue");
    }
    if (this.#stopped) return;
    // Nothing is known before the first answer, and admin may be about to start.
    const pause = this.#listedAt === undefined ? Math.min(config.refreshMs, FIRST_LIST_RETRY_MS) : config.refreshMs;
    this.#cancelRefresh = clock.schedule(pause * (0.9 + 0.2 * random()), () => void this.#refresh());
    this.#wake();
  }

  async #replaceSchedules(schedules: readonly Schedule[]): Promise<void> {
    const { clock, watermarks, logger } = this.deps;
    const before = this.#entries;
    const changed = schedules.filter((schedule) => !isCurrent(before.get(schedule.key), schedule));
    await this.#adoptActivations(changed);
    const known = changed.length === 0 ? new Map<string, Watermark>() : await watermarks.ensureRows(changed);
    const after = new Map<string, Entry>();
    for (const schedule of schedules) {
      const kept = before.get(schedule.key);
      if (kept !== undefined && isCurrent(kept, schedule)) {
        after.set(schedule.key, kept);
        continue;
      }
      const entry = entryOf(schedule, known.get(schedule.key));
      after.set(schedule.key, entry);
      this.#queue.set(entry, 0);
    }
    for (const [key, entry] of before) {
      if (after.get(key) === entry) continue;
      entry.removed = true;
      this.#queue.delete(entry);
    }
    this.#entries = after;
    logger.info({ schedules: after.size, changed: changed.length }, "active schedules");
    if (this.#prunedAt !== undefined && clock.elapsed() - this.#prunedAt < PRUNE_EVERY_MS) return;
    await watermarks.prune(schedules, RETENTION_DAYS);
    this.#prunedAt = clock.elapsed();
  }

  /**
   * Makes admin's activation the recorded one where a second list still has an earlier one: the
   * clock was set back, or admin's database restored. One list may be older than the record, which
   * another replica has made from a newer list.
   */
  async #adoptActivations(schedules: readonly Schedule[]): Promise<void> {
    const { clock, logger, watermarks } = this.deps;
    for (const schedule of schedules) {
      const entry = this.#entries.get(schedule.key);
      if (entry?.laterActivation === undefined || entry.schedule.activatedAt !== schedule.activatedAt) continue;
      const recorded = { activatedAt: entry.laterActivation, now: clock.now() };
      await watermarks.adoptActivation(schedule, recorded);
      const times = { activatedAt: new Date(schedule.activatedAt).toISOString(), recorded: new Date(recorded.activatedAt).toISOString() };
      logger.warn(
        { launchPlan: scheduleName(schedule.launchPlan), ...times },
        "the recorded activation of a schedule is later than admin's; admin's applies",
      );
    }
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
      this.#dispatch(entry);
    }
  }

  #dispatch(entry: Entry): void {
    const action = this.#decide(entry);
    if (action.kind === "never") return;
    if (action.kind === "wait") {
      this.#queue.set(entry, action.until);
      return;
    }
    this.#working++;
    void this.#runAction(entry, action).then((again) => {
      this.#working--;
      if (this.#stopped && this.#working === 0) this.#onIdle?.();
      if (!entry.removed) this.#queue.set(entry, again);
      this.#wake();
    });
  }

  #decide(entry: Entry): ScheduleAction {
    const { missedAfterMs } = this.deps.config;
    const action = nextAction(entry.schedule, { watermark: entry.watermark, now: this.deps.clock.now(), missedAfterMs });
    entry.due = action.kind === "start" || action.kind === "skip" ? action.from : undefined;
    return action;
  }

  /** Resolves with the time at which to evaluate the schedule again. */
  async #runAction(entry: Entry, action: Extract<ScheduleAction, { kind: "start" | "skip" }>): Promise<number> {
    const { clock } = this.deps;
    let operation: Operation = "claim";
    try {
      const isMadeUp = action.kind === "start" && action.isMissed;
      const wait = isMadeUp && !entry.rateLimitCleared ? this.#limit.reserve(clock.elapsed()) : 0;
      entry.rateLimitCleared = wait > 0;
      if (wait > 0) return clock.now() + wait;
      const claimedAt = clock.elapsed();
      const again = await this.#acquireLease(entry);
      if (again !== undefined) return again;
      if (action.kind === "skip") {
        await this.#advance(entry, action.through);
        this.#recordSkipped(entry.schedule, action.from, action.through + 1);
        return clock.now();
      }
      // Others may act when the claim has ended: no request may be in flight then.
      const left = this.deps.config.claimMs - (clock.elapsed() - claimedAt) - LEASE_MARGIN_MS;
      if (left <= 0) return clock.now();
      operation = "start";
      await this.#start(entry.schedule, action.at, Math.min(left, this.deps.config.admin.timeoutMs));
      operation = "record";
      await this.#advance(entry, action.at);
      if (action.from !== action.at) this.#recordSkipped(entry.schedule, action.from, action.at);
      return clock.now();
    } catch (error) {
      return this.#failed(entry, operation, error);
    }
  }

  /** Undefined when this replica has the claim; otherwise the time of the next check. */
  async #acquireLease(entry: Entry): Promise<number | undefined> {
    const { clock, watermarks } = this.deps;
    const claim = await watermarks.acquireLease(entry.schedule, entry.watermark);
    const { leasePolls } = entry;
    entry.leasePolls = 0;
    if (claim.acquired) return undefined;
    const there = claim.watermark;
    if (there === undefined) {
      // The next list registers the schedule again, as a new one.
      this.#entries.delete(entry.schedule.key);
      this.#revision = undefined;
      entry.removed = true;
      throw new Error("the schedule's progress was deleted");
    }
    if (there.activatedAt !== entry.schedule.activatedAt) {
      // The next list contains the recorded activation, or confirms that it no longer counts.
      entry.laterActivation = there.activatedAt;
      this.#revision = undefined;
      throw new Error(`an activation at ${new Date(there.activatedAt).toISOString()} is recorded, admin has another`);
    }
    if (there.watermark !== entry.watermark) {
      entry.watermark = there.watermark;
      entry.failures = 0;
      return clock.now();
    }
    entry.leasePolls = leasePolls + 1;
    return clock.now() + backoffDelay({ initialMs: LEASE_POLL_MS, maxMs: Math.max(there.leaseRemainingMs, 1) }, leasePolls);
  }

  async #start(schedule: Schedule, at: number, deadlineMs: number): Promise<void> {
    const { admin, clock, logger, metrics } = this.deps;
    const { outcome, reason } = await admin.start(schedule, at, deadlineMs);
    metrics.runs.inc({ outcome: outcome satisfies RunOutcome });
    const lateMs = clock.now() - at;
    if (outcome === "started") metrics.startDelay.observe(lateMs / 1000);
    const fields = {
      execution: [schedule.launchPlan.project, schedule.launchPlan.domain, scheduledExecutionName(schedule.launchPlan, at)].join("/"),
      launchPlan: scheduleName(schedule.launchPlan),
      scheduledAt: new Date(at).toISOString(),
      lateMs,
      outcome,
    };
    if (outcome === "refused") logger.error({ ...fields, error: reason }, "a run was rejected; it is not retried");
    else logger.info(fields, "run started");
  }

  async #advance(entry: Entry, through: number): Promise<void> {
    await this.deps.watermarks.advance(entry.schedule, through);
    entry.watermark = through;
    entry.due = undefined;
    entry.failures = 0;
  }

  #recordSkipped(schedule: Schedule, from: number, before: number): void {
    const { logger, metrics } = this.deps;
    let count = 0;
    // Limits the count: years of minutes need not be counted to the last one.
    for (let at: number | undefined = from; at !== undefined && at < before && count < 10_000; at = schedule.recurrence.next(at)) count++;
    metrics.runs.inc({ outcome: "left_out" satisfies RunOutcome }, count);
    const fields = { launchPlan: scheduleName(schedule.launchPlan), catchUp: schedule.catchUp, count, from: new Date(from).toISOString() };
    logger.warn(fields, "skipped missed runs according to the catch-up policy");
  }

  #failed(entry: Entry, what: Operation, error: unknown): number {
    const { clock, logger, metrics, random } = this.deps;
    metrics.failures.inc({ what });
    const delayMs = backoffDelay(RETRY_BACKOFF, entry.failures, random);
    entry.failures++;
    const launchPlan = scheduleName(entry.schedule.launchPlan);
    const left = this.#sampler.sample(launchPlan);
    if (left !== undefined) logger.warn({ launchPlan, what, error: String(error), left }, "a run could not be started; retrying");
    return clock.now() + delayMs;
  }
}

/** Token bucket whose burst is the number of permits of one second. */
function permitsOfASecond(perSecond: number): TokenBucket {
  return new TokenBucket({ burst: Math.max(perSecond, 1), intervalMs: 1_000 / perSecond });
}

function entryOf(schedule: Schedule, known: Watermark | undefined): Entry {
  const { activatedAt } = schedule;
  const recorded = known?.activatedAt ?? activatedAt;
  return {
    schedule,
    watermark: known?.watermark ?? activatedAt,
    due: undefined,
    failures: 0,
    leasePolls: 0,
    rateLimitCleared: false,
    laterActivation: recorded > activatedAt ? recorded : undefined,
    removed: false,
  };
}

/** True when the entry agrees with admin and with the recorded progress. */
function isCurrent(entry: Entry | undefined, schedule: Schedule): boolean {
  return entry?.laterActivation === undefined && isSame(entry?.schedule, schedule);
}

/** A version's expression never changes, but other fields may. */
function isSame(a: Schedule | undefined, b: Schedule): boolean {
  return (
    a !== undefined && a.activatedAt === b.activatedAt && a.catchUp === b.catchUp && a.kickoffInput === b.kickoffInput && a.zone === b.zone
  );
}
