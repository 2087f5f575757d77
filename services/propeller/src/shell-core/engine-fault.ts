/**
 * The engine itself threw while it looked at a workflow. Unlike a failure of what the
 * shell reads and writes, it is likely to come again whenever the workflow is looked at.
 */
export class EngineFault extends Error {
  override readonly name = "EngineFault";

  constructor(cause: unknown) {
    super(cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause), { cause });
  }
}

/** @throws EngineFault for whatever `work` throws. */
export function inEngine<T>(work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw new EngineFault(cause);
  }
}

/** Faults in a row after which a workflow is given up: with the pauses between them, some seconds. */
const MOST = 8;
/** A fault that comes so long after the one before does not follow on it, ms: longer than any pause between two tries. */
const APART_MS = 600_000;

/** Counts the engine's faults of each workflow, so that none is tried for ever. */
export class Faults {
  readonly #known = new Map<string, { readonly count: number; readonly at: number; readonly message: string }>();

  note(key: string, { message }: EngineFault, now: number): void {
    const before = this.#known.get(key);
    const follows = before !== undefined && now - before.at <= APART_MS;
    this.#known.set(key, { count: follows ? before.count + 1 : 1, at: now, message });
  }

  /** Why the workflow is to be given up; undefined while it may be tried again. */
  verdict(key: string): string | undefined {
    const known = this.#known.get(key);
    if (known === undefined || known.count < MOST) return undefined;
    return `the engine has failed ${known.count} times in a row on this execution: ${known.message}`;
  }

  forget(key: string): void {
    this.#known.delete(key);
  }
}
