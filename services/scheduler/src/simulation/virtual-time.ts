import { setImmediate } from "node:timers/promises";
import { DelayQueue } from "@flyte-ts/async";

interface Event {
  readonly run: () => void;
}

/** Virtual time that jumps to the next event; deterministic. */
export class VirtualTime {
  readonly #queue = new DelayQueue<Event>();

  constructor(public now: number) {}

  /**
   * Runs `run` at a time, or now when that has passed, unless the returned function is called
   * before.
   */
  at(time: number, run: () => void): () => void {
    const event = { run };
    this.#queue.set(event, Math.max(time, this.now));
    return () => this.#queue.delete(event);
  }

  async until(end: number): Promise<void> {
    // Code in progress may still add events.
    await setImmediate();
    for (;;) {
      const next = this.#queue.nextDueAt();
      if (next === undefined || next > end) break;
      this.now = next;
      for (let event = this.#queue.popDue(next); event !== undefined; event = this.#queue.popDue(next)) event.run();
      // Lets promises settle.
      await setImmediate();
    }
    this.now = end;
  }
}
