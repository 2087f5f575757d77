import type { Context } from "../entity/context.js";
import { localContext } from "../local/local-context.js";

/** Makes a context for unit tests of a task's function. */
export function testContext(parts: Partial<Context> = {}): Context {
  const context = localContext({
    task: "test",
    attempt: 0,
    signal: new AbortController().signal,
    rawOutputPrefix: "file:///tmp",
    options: {},
    checkpoint: { state: undefined },
    decks: new Map(),
  });
  return { ...context, ...parts };
}
