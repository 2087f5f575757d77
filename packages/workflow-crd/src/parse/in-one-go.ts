/** Runs a generator to its end without yielding to the event loop. */
export function inOneGo<T>(parts: Generator<void, T>): T {
  for (;;) {
    const { done, value } = parts.next();
    if (done === true) return value;
  }
}
