/** A background activity that runs until it is closed. */
export interface Closeable {
  /** Accepts no more work and waits for work in progress. */
  close(): Promise<void>;
}

/** Combines several into one, which closes all of them at the same time. */
export function closeAll(parts: readonly Closeable[]): Closeable {
  return { close: async () => void (await Promise.all(parts.map((part) => part.close()))) };
}
