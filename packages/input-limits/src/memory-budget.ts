import { getHeapStatistics } from "node:v8";

/**
 * Bounds the memory of all inputs that a process reads, decodes and handles at a time, in bytes.
 */
export class MemoryBudget {
  readonly capacity: number;
  #used = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get used(): number {
    return this.#used;
  }

  /** Reserves bytes; returns false, without a reservation, when fewer are free. */
  reserve(bytes: number): boolean {
    if (this.#used + bytes > this.capacity) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
  }
}

/** Part of a {@link MemoryBudget} that one input holds. */
export class Reservation {
  readonly #budget: MemoryBudget;
  #held = 0;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
  }

  /**
   * Raises the reservation to this many bytes, never lowers it; returns false, without a change,
   * when the budget has fewer.
   */
  growTo(bytes: number): boolean {
    const more = bytes - this.#held;
    if (more <= 0) return true;
    if (!this.#budget.reserve(more)) return false;
    this.#held = bytes;
    return true;
  }

  /** Releases the reservation; further calls have no effect. */
  release(): void {
    this.#budget.release(this.#held);
    this.#held = 0;
  }
}

/**
 * Returns a share of this process's memory, bytes. The memory is its heap limit, or its container's
 * limit where that is lower.
 */
export function memoryShare(share: number): number {
  const constrained = process.constrainedMemory();
  const heap = getHeapStatistics().heap_size_limit;
  return Math.floor(share * (constrained > 0 ? Math.min(heap, constrained) : heap));
}
