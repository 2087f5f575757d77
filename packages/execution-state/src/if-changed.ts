/** The state after an event; the one before it, itself, when they say the same: then there is nothing to write. */
export function ifChanged<State extends object>(before: State, after: State): State {
  for (const key of Object.keys(after) as (keyof State)[]) if (after[key] !== before[key]) return after;
  return before;
}
