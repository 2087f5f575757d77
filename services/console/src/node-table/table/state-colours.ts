import type { NodeStateName } from "./node-state.js";

/** Tokens of the theme by state. */
const TOKENS = {
  failed: "bad",
  waiting: "ask",
  running: "run",
  queued: "wait",
  aborted: "stop",
  succeeded: "ok",
  cached: "hit",
  skipped: "wait",
} as const satisfies Readonly<Record<NodeStateName, string>>;

type StateToken = (typeof TOKENS)[NodeStateName];

/** Names of the tokens that {@link stateColours} needs. */
export const STATE_TOKENS: readonly StateToken[] = [...new Set(Object.values(TOKENS))];

/** Returns the colour of each state from the values of the tokens. */
export function stateColours(values: Readonly<Record<StateToken, string>>): Readonly<Record<NodeStateName, string>> {
  const colours = Object.entries(TOKENS).map(([state, token]) => [state, values[token]]);
  return Object.fromEntries(colours) as Record<NodeStateName, string>;
}

/** Returns the token of a state, which is also the kind of its mark. */
export function stateToken(state: NodeStateName): StateToken {
  return TOKENS[state];
}
