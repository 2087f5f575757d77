import { setImmediate } from "node:timers/promises";
import { DueQueue } from "@flyte-ts/heap";

interface Event {
  readonly run: () => void;
}

/** Time that passes as fast as what happens in it is worked off; equal runs for equal events. */
export class VirtualTime {
  readonly #queue = new DueQueue<Event>();

  constructor(public now: number) {}

  /** Runs `run` at a time, or now when that has passed, unless the returned function is called before. */
  at(time: number, run: () => void): () => void {
    const event = { run };
    this.#queue.set(event, Math.max(time, this.now));
    return () => this.#queue.delete(event);
  }

  async until(end: number): Promise<void> {
    // What has been begun before may set events yet.
    await setImmediate();
    for (;;) {
      const next = this.#queue.first();
      if (next === undefined || next > end) break;
      this.now = next;
      for (let event = this.#queue.take(next); event !== undefined; event = this.#queue.take(next)) event.run();
      // Whatever promises that has settled.
      await setImmediate();
    }
    this.now = end;
  }
}
