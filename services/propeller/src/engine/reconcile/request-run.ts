import type { RuntimeNode } from "../graph/runtime.js";
import { sendRunRequest } from "../requests/requests.js";
import { acquireReservation } from "../dependencies/cache.js";
import { succeedAfterWrite } from "../lifecycle/mark-running.js";
import type { EffectTiming } from "../state/effect-buffer.js";
import type { RunState } from "../state/run-state.js";

export interface RunRequestOptions {
  readonly timing: EffectTiming;
  /** The status is from before a restart: the attempt may already run. */
  readonly maybeRunning: boolean;
}

/**
 * Requests an attempt from its plugin once the node holds the cache reservation, or needs none. A
 * cached result ends the node; while another execution holds the reservation, nothing is sent.
 */
export function requestRunWhenReserved(state: RunState, node: RuntimeNode, { timing, maybeRunning }: RunRequestOptions): void {
  const turn = acquireReservation(state, node, maybeRunning);
  switch (turn.kind) {
    case "wait":
      return;
    case "hit":
      succeedAfterWrite(state, node, turn.success);
      return;
    case "proceed":
      sendRunRequest(state, node, timing);
      return;
  }
}
