import { setImmediate } from "node:timers/promises";

/** Takes work in parts to its end. Of 100,000 nodes it takes seconds: between the parts leases are renewed and others have their turn. */
export async function inTurns<T>(parts: Generator<void, T>): Promise<T> {
  for (;;) {
    const { done, value } = parts.next();
    if (done === true) return value;
    await othersTurn();
  }
}

/** What has come in meanwhile is handled, twice over: what that sends is answered. */
export async function othersTurn(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await setImmediate();
}
