/** Takes work in parts to its end, and lets nobody else have a turn between them. */
export function inOneGo<T>(parts: Generator<void, T>): T {
  for (;;) {
    const { done, value } = parts.next();
    if (done === true) return value;
  }
}
