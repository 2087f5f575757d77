import type { Stored } from "./stored-object.js";

export interface StoreEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** Storage key of the resource, `group/plural`. */
  readonly resource: string;
  /** State after the write; for DELETED the last state, with the revision of the removal. */
  readonly stored: Stored;
  readonly previous: Stored | undefined;
}

/**
 * Maximum number of retained events per resource; a watch from an older revision must list again
 * (410).
 */
const MAX_EVENTS = 16_384;

/**
 * Maximum memory of a resource's retained events, bytes. Revisions of a large object share most
 * parts; the rest is estimated as an eighth of its text.
 */
const MAX_BYTES = 64 << 20;
const costOf = ({ stored }: StoreEvent) => stored.size >> 3;

/**
 * Excess over a maximum that triggers a trim: each trim moves all retained events, so that one
 * follows thousands of writes.
 */
const TRIM_AT = 1.125;

/** Recent events of one resource, in order. */
export class History {
  #events: StoreEvent[] = [];
  #bytes = 0;
  /** All events after this revision are retained. */
  #floor: number;

  constructor(floor: number) {
    this.#floor = floor;
  }

  push(event: StoreEvent): void {
    this.#events.push(event);
    this.#bytes += costOf(event);
    if (this.#events.length >= TRIM_AT * MAX_EVENTS || this.#bytes > TRIM_AT * MAX_BYTES) this.#trim();
  }

  #trim(): void {
    let drop = 0;
    while (this.#events.length - drop > MAX_EVENTS || (this.#bytes > MAX_BYTES && drop < this.#events.length)) {
      this.#bytes -= costOf(this.#events[drop++] as StoreEvent);
    }
    const dropped = this.#events.splice(0, drop);
    this.#floor = dropped.at(-1)?.stored.revision ?? this.#floor;
  }

  /** Returns events after a revision, or the oldest available revision. */
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
