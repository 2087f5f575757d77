import { createStore } from "./store.js";

/** State of the streams of the page that is open. */
export interface StreamState {
  /** Time since which data are old, ms of the epoch; undefined while all are live. */
  brokenSince(): number | undefined;
  /** Sets the time since which a stream's data are old; undefined: they are live. */
  setBrokenSince(stream: object, sinceMs: number | undefined): void;
  subscribe(listener: () => void): () => void;
}

export function createStreamState(): StreamState {
  const broken = new Map<object, number>();
  const since = createStore<number | undefined>(undefined);
  return {
    brokenSince: since.get,
    setBrokenSince: (stream, sinceMs) => {
      if (sinceMs === undefined) broken.delete(stream);
      else broken.set(stream, sinceMs);
      const earliest = broken.size === 0 ? undefined : Math.min(...broken.values());
      if (since.get() !== earliest) since.set(earliest);
    },
    subscribe: since.subscribe,
  };
}
