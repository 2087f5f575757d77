/** What a service does by itself, until it is closed. */
export interface Running {
  /** Takes no more work and waits for what is under way. */
  close(): Promise<void>;
}

/** Several that begin and end together. */
export function together(parts: readonly Running[]): Running {
  return { close: async () => void (await Promise.all(parts.map((part) => part.close()))) };
}
