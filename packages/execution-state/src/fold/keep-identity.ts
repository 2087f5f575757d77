/**
 * Returns the state after an event, or the identical earlier object when they are equal: then no
 * write is needed.
 */
export function keepIdentityIfEqual<State extends object>(before: State, after: State): State {
  for (const key in after) if (after[key] !== before[key]) return after;
  return before;
}
