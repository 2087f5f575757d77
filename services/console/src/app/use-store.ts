import { useSyncExternalStore } from "react";
import type { Store } from "../session/store.js";

/** Reads a store, and renders again on change. */
export function useStore<Value>({ get, subscribe }: Store<Value>): Value {
  return useSyncExternalStore(subscribe, get);
}
