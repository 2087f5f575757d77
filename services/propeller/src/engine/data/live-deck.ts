import { deckUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { RunState } from "../state/run-state.js";

/**
 * Address of the deck that clients read while the task runs; undefined unless the task is known to
 * write one.
 */
export function liveDeck(state: RunState, node: RuntimeNode): string | undefined {
  return state.templateOf(node)?.metadata?.generatesDeck === true ? deckUri(node.attemptDir) : undefined;
}
