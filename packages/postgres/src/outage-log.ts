import type { FailureLog } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { isUnavailable } from "./errors.js";

/** Time after the first failure in which the names of failing tasks are collected, ms. */
export const COLLECT_MS = 2_000;
/** Time without a failure after which an answer of the database ends the outage, ms. */
export const QUIET_MS = 5_000;

interface Outage {
  /** Milliseconds of the clock. */
  readonly startedAt: number;
  lastFailureAt: number;
  readonly tasks: Set<string>;
  /** Timer of the warning; undefined once it is logged. */
  warning: NodeJS.Timeout | undefined;
}

/**
 * Logs an outage of the database once for all tasks that it postpones, and its end once. Each task
 * by itself would log a warning a round.
 */
export class OutageLog {
  #outage: Outage | undefined;

  constructor(
    private readonly logger: Pick<Logger, "warn" | "info">,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @returns false when the error is no outage and remains to be logged */
  postpone(task: string, error: unknown): boolean {
    if (!isUnavailable(error)) return false;
    const now = this.now();
    this.#outage ??= {
      startedAt: now,
      lastFailureAt: now,
      tasks: new Set(),
      warning: setTimeout(() => this.#warn(String(error)), COLLECT_MS).unref(),
    };
    this.#outage.lastFailureAt = now;
    this.#outage.tasks.add(task);
    return true;
  }

  /** Called after each statement that the database has answered. */
  onAnswer(): void {
    const outage = this.#outage;
    if (outage === undefined || outage.warning !== undefined || this.now() - outage.lastFailureAt < QUIET_MS) return;
    this.#outage = undefined;
    const { tasks, startedAt, lastFailureAt } = outage;
    const durationMs = Math.round(lastFailureAt - startedAt);
    this.logger.info({ tasks: sorted(tasks), durationMs }, "the database answers again: postponed tasks run");
  }

  close(): void {
    clearTimeout(this.#outage?.warning);
  }

  #warn(error: string): void {
    if (this.#outage === undefined) return;
    this.#outage.warning = undefined;
    this.logger.warn(
      { tasks: sorted(this.#outage.tasks), error },
      "the database cannot be used: these tasks are postponed until it answers",
    );
  }
}

const sorted = (tasks: ReadonlySet<string>): readonly string[] => [...tasks].toSorted((a, b) => (a < b ? -1 : 1));

/** Logs failures of tasks, those of an outage of the database once for all of its tasks. */
export function taskFailures({ outages }: { readonly outages: OutageLog }, logger: Pick<Logger, "warn">): FailureLog {
  return {
    failed: ({ task, error, message }) => {
      if (!outages.postpone(task, error)) logger.warn({ error: String(error) }, message);
    },
  };
}
