import { useCallback, useSyncExternalStore } from "react";
import { executionPhaseLook, type PhaseLook } from "../../../format/phase.js";
import type { NodeTableClient } from "../../../node-table/node-table-client.js";
import { PHASE_NAMES } from "./newer-state.js";

/** Returns the look of an execution by the stream of its nodes; undefined before it tells. */
export function useStreamedLook(client: NodeTableClient | undefined): PhaseLook | undefined {
  const subscribe = useCallback((listener: () => void) => client?.execution.subscribe(listener) ?? (() => undefined), [client]);
  const phase = useSyncExternalStore(subscribe, () => client?.execution.get()?.phase);
  return phase === undefined ? undefined : executionPhaseLook(PHASE_NAMES[phase]);
}
