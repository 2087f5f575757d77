/**
 * True when less than `ms` have passed since `at`. False when the clock was set back to before it.
 */
export function isWithinMs(now: Date, at: number, ms: number): boolean {
  const age = now.getTime() - at;
  return age >= 0 && age < ms;
}

export interface TtlValueOptions<T> {
  readonly read: () => Promise<T>;
  readonly clock: () => Date;
  /** Time for which a value is fresh, ms. */
  readonly ttlMs: number;
  /** Maximum age of a value that is served while reading fails, ms. */
  readonly maxStaleMs: number;
  /** Delay before the next attempt after a failed read, ms. */
  readonly retryMs: number;
  /** Called when reading failed and the old value is served. */
  readonly onRefreshError?: (error: unknown) => void;
}

/** A TTL cache of one value that serves a stale one while reading fails. */
export interface TtlValue<T> {
  /** Rejects like `read` when no cached value may be served. */
  current(): Promise<T>;
  /** Drops the cached value and the result of a read in progress. */
  invalidate(): void;
}

export function createTtlValue<T>({ read, clock, ttlMs, maxStaleMs, retryMs, onRefreshError }: TtlValueOptions<T>): TtlValue<T> {
  let known: { readonly value: T; readonly at: number; readonly failedAt?: number } | undefined;
  let reading: Promise<T> | undefined;
  const counts = ({ at, failedAt }: NonNullable<typeof known>): boolean =>
    isWithinMs(clock(), at, ttlMs) ||
    (failedAt !== undefined && isWithinMs(clock(), failedAt, retryMs) && isWithinMs(clock(), at, maxStaleMs));
  const begin = (): Promise<T> => {
    const at = clock().getTime();
    const ownRead: Promise<T> = read().then(
      (value) => {
        if (reading !== ownRead) return value;
        known = { value, at };
        reading = undefined;
        return value;
      },
      (error: unknown) => {
        if (reading === ownRead) reading = undefined;
        if (known === undefined || !isWithinMs(clock(), known.at, maxStaleMs)) throw error;
        known = { ...known, failedAt: clock().getTime() };
        onRefreshError?.(error);
        return known.value;
      },
    );
    reading = ownRead;
    return ownRead;
  };
  return {
    current: async () => (known !== undefined && counts(known) ? known.value : (reading ?? begin())),
    invalidate: () => {
      known = undefined;
      reading = undefined;
    },
  };
}
