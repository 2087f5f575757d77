/** State of the streams of the page that is open. */
export interface StreamState {
  /** Time since which data are old, ms of the epoch; undefined while all are live. */
  brokenSince(): number | undefined;
  /** Sets the time since which a stream's data are old; undefined: they are live. */
  setBrokenSince(stream: object, sinceMs: number | undefined): void;
  subscribe(listener: () => void): () => void;
}

export function createStreamState(): StreamState {
  const listeners = new Set<() => void>();
  const broken = new Map<object, number>();
  let since: number | undefined;
  return {
    brokenSince: () => since,
    setBrokenSince: (stream, sinceMs) => {
      if (sinceMs === undefined) broken.delete(stream);
      else broken.set(stream, sinceMs);
      const earliest = broken.size === 0 ? undefined : Math.min(...broken.values());
      if (since === earliest) return;
      since = earliest;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
