/** State of the stream of the page that is open. */
export interface StreamState {
  /** Time since which the data are old, ms of the epoch; undefined while they are live. */
  brokenSince(): number | undefined;
  setBrokenSince(sinceMs: number | undefined): void;
  subscribe(listener: () => void): () => void;
}

export function createStreamState(): StreamState {
  const listeners = new Set<() => void>();
  let since: number | undefined;
  return {
    brokenSince: () => since,
    setBrokenSince: (sinceMs) => {
      if (since === sinceMs) return;
      since = sinceMs;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
