import type { Logger } from "@flyte-ts/telemetry";

/**
 * Time after which an unstored message counts as a fault of the server, ms. Shorter outages do not
 * count.
 */
const UNHEALTHY_AFTER_MS = 2_000;
/** Time after which a failure no longer counts, ms: publishers retry much sooner. */
const FAILURE_TTL_MS = 30_000;

interface OngoingFailure {
  readonly since: number;
  readonly last: number;
  readonly reason: string;
  reported: boolean;
}

/**
 * Tracks which messages the server fails to store, by the first two tokens of their subjects
 * (`flyte.task`): each stream may fail by itself. A stream whose write has failed, as on a full
 * disk, stores nothing more until the server restarts.
 */
export class StreamHealth {
  readonly #failures = new Map<string, OngoingFailure>();

  constructor(
    private readonly logger: Logger,
    /** A monotonic clock, ms. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  recordStored(subject: string): void {
    // Skips the lookup in the usual case.
    if (this.#failures.size === 0) return;
    const prefix = subjectPrefix(subject);
    const failure = this.#failures.get(prefix);
    this.#failures.delete(prefix);
    if (failure?.reported === true) this.logger.info({ subjects: prefix }, "the message bus stores messages again");
  }

  recordFailure(subject: string, reason: string): void {
    const prefix = subjectPrefix(subject);
    const now = this.now();
    const before = this.#failures.get(prefix);
    const continues = before !== undefined && now - before.last <= FAILURE_TTL_MS;
    const failure = { since: continues ? before.since : now, last: now, reason, reported: continues && before.reported };
    this.#failures.set(prefix, failure);
    if (failure.reported || now - failure.since < UNHEALTHY_AFTER_MS) return;
    failure.reported = true;
    this.logger.error({ subjects: prefix, reason }, "the message bus does not store messages");
  }

  /**
   * True from the first message of this stream that the server failed to store, until it stores
   * one.
   */
  isFailing(subject: string): boolean {
    return this.#failures.size > 0 && this.#failures.has(subjectPrefix(subject));
  }

  /** Describes what the server fails to store; undefined when it stores all. */
  unhealthyReason(): string | undefined {
    if (this.#failures.size === 0) return undefined;
    const now = this.now();
    for (const [prefix, { since, last, reason }] of this.#failures) {
      if (last - since >= UNHEALTHY_AFTER_MS && now - last <= FAILURE_TTL_MS)
        return `the message bus does not store messages (${prefix}): ${reason}`;
    }
    return undefined;
  }
}

function subjectPrefix(subject: string): string {
  return subject.split(".", 2).join(".");
}
