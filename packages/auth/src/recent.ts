/** Whether something happened within so many milliseconds. A clock that was set back since knows nothing of it. */
export function isRecent(now: Date, at: number, ms: number): boolean {
  const age = now.getTime() - at;
  return age >= 0 && age < ms;
}

export interface RecentOptions<T> {
  readonly read: () => Promise<T>;
  readonly clock: () => Date;
  /** For so long it is not read again, ms. */
  readonly freshMs: number;
  /** While it cannot be read, what was read so long ago still counts, ms. */
  readonly oldestMs: number;
  /** After it could not be read, what is known counts for so long before it is tried again, ms. */
  readonly retryMs: number;
  /** Told when it could not be read and what was known counts on. */
  readonly onTrouble?: (error: unknown) => void;
}

/** What stands elsewhere, as it was there a short while ago. */
export interface Recent<T> {
  /** Rejects as `read` does, where nothing is known that still counts. */
  current(): Promise<T>;
  /** It was changed: nothing that was read before counts any more, nor what is being read now. */
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
