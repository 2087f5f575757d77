/** A value that changes, for React's useSyncExternalStore. */
export interface Store<Value> {
  readonly get: () => Value;
  /** Calls a listener after each change; returns a function that ends that. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A store with its setter. */
export interface WritableStore<Value> extends Store<Value> {
  readonly set: (value: Value) => void;
}

export function createStore<Value>(initial: Value): WritableStore<Value> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
