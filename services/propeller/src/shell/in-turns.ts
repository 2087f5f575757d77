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

/** Time after which a loop over many small pieces of work lets others have their turn, ms. */
const SLICE_MS = 2;

/** Calls `work` for each item in its order. Lets others have their turn whenever the calls have taken long. */
export async function inSlices<T>(items: readonly T[], work: (item: T) => void): Promise<void> {
  let until = performance.now() + SLICE_MS;
  for (const item of items) {
    if (performance.now() >= until) {
      await setImmediate();
      until = performance.now() + SLICE_MS;
    }
    work(item);
  }
}
