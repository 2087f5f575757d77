/** True when less than `ms` have passed since `at`. False when the clock was set back to before it. */
export function isRecent(now: Date, at: number, ms: number): boolean {
  const age = now.getTime() - at;
  return age >= 0 && age < ms;
}

export interface RecentOptions<T> {
  readonly read: () => Promise<T>;
  readonly clock: () => Date;
  /** Time for which a value is fresh, ms. */
  readonly freshMs: number;
  /** Maximum age of a value that is served while reading fails, ms. */
  readonly oldestMs: number;
  /** Delay before the next attempt after a failed read, ms. */
  readonly retryMs: number;
  /** Called when reading failed and the old value is served. */
  readonly onTrouble?: (error: unknown) => void;
}

/** A TTL cache of one value that serves a stale one while reading fails. */
export interface Recent<T> {
  /** Rejects like `read` when no cached value may be served. */
  current(): Promise<T>;
  /** Drops the cached value and the result of a read in progress. */
  forget(): void;
}

export function createRecent<T>({ read, clock, freshMs, oldestMs, retryMs, onTrouble }: RecentOptions<T>): Recent<T> {
  let known: { readonly value: T; readonly at: number; readonly failedAt?: number } | undefined;
  let reading: Promise<T> | undefined;
  const counts = ({ at, failedAt }: NonNullable<typeof known>): boolean =>
    isRecent(clock(), at, freshMs) || (failedAt !== undefined && isRecent(clock(), failedAt, retryMs) && isRecent(clock(), at, oldestMs));
  const begin = (): Promise<T> => {
    const at = clock().getTime();
    const mine: Promise<T> = read().then(
      (value) => {
        if (reading !== mine) return value;
        known = { value, at };
        reading = undefined;
        return value;
      },
      (error: unknown) => {
        if (reading === mine) reading = undefined;
        if (known === undefined || !isRecent(clock(), known.at, oldestMs)) throw error;
        known = { ...known, failedAt: clock().getTime() };
        onTrouble?.(error);
        return known.value;
      },
    );
    reading = mine;
    return mine;
  };
  return {
    current: async () => (known !== undefined && counts(known) ? known.value : (reading ?? begin())),
    forget: () => {
      known = undefined;
      reading = undefined;
    },
  };
}
