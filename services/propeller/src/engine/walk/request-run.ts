import type { RuntimeNode } from "../graph/runtime.js";
import { sendRunRequest } from "./attempt.js";
import { acquireReservation } from "./caching.js";
import { succeedAfterWrite } from "./progress.js";
import type { EffectTiming, RunState } from "./walk.js";

export interface RunRequestOptions {
  readonly timing: EffectTiming;
  /** The status is from before a restart: the attempt may already run. */
  readonly maybeRunning: boolean;
}

/** Requests an attempt once it may compute; until then the node is reconciled again. */
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
