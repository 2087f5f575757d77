import { setImmediate } from "node:timers/promises";

/**
 * Runs a generator to completion and yields to the event loop between its steps. A graph of 100,000
 * nodes takes seconds; leases must be renewed meanwhile.
 */
export async function runCooperatively<T>(parts: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = parts.next();
    if (done === true) return value;
    await yieldToEventLoop();
  }
}

/**
 * Yields twice to the event loop: handles what has arrived, then the replies to messages sent by
 * that.
 */
export async function yieldToEventLoop(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await setImmediate();
}
