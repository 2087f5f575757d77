/**
 * The engine threw while reconciling a workflow. Unlike an I/O failure of the shell, it will
 * probably recur at each reconcile.
 */
export class EngineFault extends Error {
  override readonly name = "EngineFault";

  constructor(cause: unknown) {
    super(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause), { cause });
  }
}

/** @throws EngineFault for anything that `work` throws. */
export function rethrowAsEngineFault<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new EngineFault(cause);
  }
}

/** Consecutive faults after which a workflow is abandoned: with backoff, after some seconds. */
const MAX_CONSECUTIVE = 8;
/** A fault this long after the previous one starts a new count, ms. Longer than any backoff. */
const RESET_AFTER_MS = 600_000;

/** Counts the engine's faults per workflow, so that none is retried forever. */
export class FaultCounter {
  readonly #known = new Map<string, { readonly count: number; readonly at: number; readonly message: string }>();

  record(key: string, { message }: EngineFault, now: number): void {
    const before = this.#known.get(key);
    const follows = before !== undefined && now - before.at <= RESET_AFTER_MS;
    this.#known.set(key, { count: follows ? before.count + 1 : 1, at: now, message });
  }

  /** Reason to abandon the workflow; undefined while it may be retried. */
  abandonReason(key: string): string | undefined {
    const known = this.#known.get(key);
    if (known === undefined || known.count < MAX_CONSECUTIVE) return undefined;
    return `the engine has failed ${known.count} times in a row on this execution: ${known.message}`;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
