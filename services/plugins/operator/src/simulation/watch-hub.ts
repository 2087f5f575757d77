import type { KubeObject, WatchEvent } from "@flyte-ts/kubernetes";

export interface WatchRequest {
  readonly signal: AbortSignal;
  readonly isSelected: (object: KubeObject) => boolean;
}

export interface WatchHub {
  notify(plural: string, event: WatchEvent<KubeObject>): void;
  /** Ends the watches of a collection. */
  end(plural: string): void;
  watch<T extends KubeObject>(plural: string, request: WatchRequest): AsyncGenerator<WatchEvent<T>>;
}

/** Passes events of collections to their watches. */
export function createWatchHub(): WatchHub {
  const watchers = new Map<string, Set<(event: WatchEvent<KubeObject> | "end") => void>>();
  return {
    notify(plural, event) {
      for (const watcher of watchers.get(plural) ?? []) watcher(event);
    },
    end(plural) {
      for (const watcher of watchers.get(plural) ?? []) watcher("end");
    },
    async *watch<T extends KubeObject>(plural: string, { signal, isSelected }: WatchRequest): AsyncGenerator<WatchEvent<T>> {
      const events: WatchEvent<KubeObject>[] = [];
      let wake: () => void = () => undefined;
      let hasEnded = false;
      const watcher = (event: WatchEvent<KubeObject> | "end") => {
        if (event === "end") hasEnded = true;
        else if (isSelected(event.object)) events.push(event);
        wake();
      };
      const ofCollection = watchers.get(plural) ?? new Set();
      watchers.set(plural, ofCollection);
      ofCollection.add(watcher);
      signal.addEventListener("abort", () => wake());
      try {
        while (!signal.aborted && !hasEnded) {
          const event = events.shift();
          if (event === undefined) await new Promise<void>((resolve) => (wake = resolve));
          else yield event as unknown as WatchEvent<T>;
        }
      } finally {
        ofCollection.delete(watcher);
      }
    },
  };
}
