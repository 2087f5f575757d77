/** Slots for each key: at most half of them are taken. */
const SLOTS_PER_KEY = 2;
const MIN_SLOTS = 64;
/** Multiplier of Fibonacci hashing: 2^32 divided by the golden ratio. */
const MULTIPLIER = 0x9e3779b1;
const TWO_POW_32 = 2 ** 32;

/**
 * Rows by their keys, in open addressing: a Map of 100,000 numbers takes several times as long.
 * The keys themselves stay in the table's column.
 */
export class KeyIndex {
  /** Row plus 1, 0 for a free slot; its length is a power of two. */
  #slots = new Int32Array(MIN_SLOTS);
  #length = 0;

  /** Returns the row of a key, −1 if there is none. */
  find(key: number, keys: Float64Array): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash(key) & mask; ; slot = (slot + 1) & mask) {
      const row = (this.#slots[slot] as number) - 1;
      if (row === -1 || keys[row] === key) return row;
    }
  }

  /** Adds the key of the row after the last one; `keys` has it already. */
  add(keys: Float64Array): void {
    this.#length++;
    if (this.#length * SLOTS_PER_KEY > this.#slots.length) this.#grow(keys);
    else this.#place(this.#length - 1, keys);
  }

  #grow(keys: Float64Array): void {
    this.#slots = new Int32Array(this.#slots.length * 4);
    for (let row = 0; row < this.#length; row++) this.#place(row, keys);
  }

  #place(row: number, keys: Float64Array): void {
    const mask = this.#slots.length - 1;
    let slot = hash(keys[row] as number) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = row + 1;
  }
}

function hash(key: number): number {
  // Bit operations take the lower 32 bits of a number.
  const mixed = Math.imul(key ^ Math.floor(key / TWO_POW_32), MULTIPLIER);
  return mixed ^ (mixed >>> 15);
}
