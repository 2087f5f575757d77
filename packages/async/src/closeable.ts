/** A background activity that runs until it is closed. */
export interface Closeable {
  /** Accepts no more work and waits for work in progress. */
  close(): Promise<void>;
}

/** Combines several activities into one, whose `close` closes all of them concurrently. */
export function closeAll(parts: readonly Closeable[]): Closeable {
  return { close: async () => void (await Promise.all(parts.map((part) => part.close()))) };
}
