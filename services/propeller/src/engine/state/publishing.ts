import type { Scope } from "../graph/runtime.js";
import { Blockers } from "./blockers.js";
import { EventSequence } from "../time/event-sequence.js";

/** Progress of what the run publishes to admin. */
export class Publishing {
  readonly blockers = new Blockers();
  /** The blocker in the status may not have been published. */
  blockerUnpublished = false;
  readonly #sequence = new EventSequence();
  /** Arrays with unpublished item changes. */
  readonly #changedArrays = new Set<Scope>();

  /** Number of the next event. */
  nextSequence(now: number): bigint {
    return this.#sequence.next(now);
  }

  /** Sets whether the blocker in the status must be published again. */
  setBlockerUnpublished(unpublished: boolean): void {
    this.blockerUnpublished = unpublished;
  }

  /** Marks an array with unpublished item changes. */
  markArrayChanged(scope: Scope): void {
    this.#changedArrays.add(scope);
  }

  /** Returns the arrays with unpublished item changes, and clears them. */
  drainChangedArrays(): readonly Scope[] {
    if (this.#changedArrays.size === 0) return [];
    const scopes = [...this.#changedArrays];
    this.#changedArrays.clear();
    return scopes;
  }
}
