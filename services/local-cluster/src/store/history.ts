import type { Stored } from "./stored.js";

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Storage key of the resource, `group/plural`. */
  readonly resource: string;
  /** State after the write; for DELETED the last state, with the revision of the removal. */
  readonly stored: Stored;
  readonly previous: Stored | undefined;
}

/** Events kept per resource; a watch that starts further back is told to list again (410). */
const MAX_EVENTS = 16_384;

/** The latest events of one resource, in order. */
export class History {
  #events: StoreEvent[] = [];
  /** Every event after this revision is kept. */
  #floor: number;

  constructor(floor: number) {
    this.#floor = floor;
  }

  push(event: StoreEvent): void {
    this.#events.push(event);
    if (this.#events.length < 2 * MAX_EVENTS) return;
    const dropped = this.#events.splice(0, this.#events.length - MAX_EVENTS);
    this.#floor = dropped.at(-1)?.stored.revision ?? this.#floor;
  }

  /** Events after a revision, or the oldest revision that can still be asked for. */
  since(revision: number): { events: readonly StoreEvent[] } | { tooOld: number } {
    if (revision < this.#floor) return { tooOld: this.#floor };
    const events = this.#events;
    let low = 0;
    let high = events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((events[middle] as StoreEvent).stored.revision > revision) high = middle;
      else low = middle + 1;
    }
    return { events: events.slice(low) };
  }
}
