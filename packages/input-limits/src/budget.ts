import { getHeapStatistics } from "node:v8";

/** Memory that inputs may take together while they are read, decoded and handled; a count of bytes, shared by all of a process. */
export class Budget {
  readonly capacity: number;
  #used = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get used(): number {
    return this.#used;
  }

  /** Reserves bytes; false, and nothing reserved, where fewer are free. */
  take(bytes: number): boolean {
    if (this.#used + bytes > this.capacity) return false;
    this.#used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.#used -= bytes;
  }
}

/** Part of a {@link Budget} that one input holds. */
export class Reservation {
  readonly #budget: Budget;
  #held = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Raises the reservation to so many bytes, never lowers it; false, and unchanged, where the budget has fewer. */
  raiseTo(bytes: number): boolean {
    const more = bytes - this.#held;
    if (more <= 0) return true;
    if (!this.#budget.take(more)) return false;
    this.#held = bytes;
    return true;
  }

  /** Gives everything back; calling it again does nothing. */
  release(): void {
    this.#budget.give(this.#held);
    this.#held = 0;
  }
}

/** Bytes that are a share of the memory that this process may use: its heap limit, or its container's limit where that is lower. */
export function memoryShare(share: number): number {
  const constrained = process.constrainedMemory();
  const heap = getHeapStatistics().heap_size_limit;
  return Math.floor(share * (constrained > 0 ? Math.min(heap, constrained) : heap));
}
