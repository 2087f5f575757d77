import type { Logger } from "@flyte-ts/telemetry";

/** Time after which an unstored message counts as a fault of the server, ms; shorter outages are none. */
const FAULT_AFTER_MS = 3_000;
/** Time after which a failure no longer counts, ms: publishers retry much sooner. */
const FORGOTTEN_AFTER_MS = 30_000;

interface Failing {
  readonly since: number;
  readonly last: number;
  readonly reason: string;
  told: boolean;
}

/**
 * Tracks which messages the server fails to store, by the first two tokens of their subjects (`flyte.task`): each
 * stream may fail by itself. A stream whose write has failed, as on a full disk, stores nothing more until the server
 * restarts.
 */
export class StoreHealth {
  readonly #failing = new Map<string, Failing>();

  constructor(
    private readonly logger: Logger,
    /** A monotonic clock, ms. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  noteStored(subject: string): void {
    // Skips the lookup in the usual case.
    if (this.#failing.size === 0) return;
    const kind = kindOf(subject);
    const failing = this.#failing.get(kind);
    this.#failing.delete(kind);
    if (failing?.told === true) this.logger.info({ subjects: kind }, "the message bus stores messages again");
  }

  noteFailed(subject: string, reason: string): void {
    const kind = kindOf(subject);
    const now = this.now();
    const before = this.#failing.get(kind);
    const follows = before !== undefined && now - before.last <= FORGOTTEN_AFTER_MS;
    const failing = { since: follows ? before.since : now, last: now, reason, told: follows && before.told };
    this.#failing.set(kind, failing);
    if (failing.told || now - failing.since < FAULT_AFTER_MS) return;
    failing.told = true;
    this.logger.error({ subjects: kind, reason }, "the message bus does not store messages");
  }

  /** Describes what the server fails to store; undefined when it stores all. */
  problem(): string | undefined {
    if (this.#failing.size === 0) return undefined;
    const now = this.now();
    for (const [kind, { since, last, reason }] of this.#failing) {
      if (last - since >= FAULT_AFTER_MS && now - last <= FORGOTTEN_AFTER_MS)
        return `the message bus does not store messages (${kind}): ${reason}`;
    }
    return undefined;
  }
}

function kindOf(subject: string): string {
  return subject.split(".", 2).join(".");
}
