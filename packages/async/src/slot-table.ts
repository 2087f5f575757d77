/** Number of slots that the id of an entry can name. */
const MAX_SLOTS = 2 ** 20;
/** Marks a free slot; no id is negative. */
const FREE = -1;

/**
 * Entries under ids that the table gives, for entries that come and go quickly. A removed entry
 * leaves no reference. A `Map` replaces its table as entries are added and removed; old tables that
 * reached V8's old generation keep all that their entries reference until the next full collection.
 */
export class SlotTable<T> {
  readonly #entries: (T | undefined)[] = [];
  /** Id of the entry in each slot, or `FREE`. */
  readonly #ids: number[] = [];
  readonly #freeSlots: number[] = [];
  #lastGeneration = 0;

  get size(): number {
    return this.#ids.length - this.#freeSlots.length;
  }

  /** Adds an entry. Returns its id, which no other entry of this table ever has. */
  add(entry: T): number {
    const slot = this.#freeSlots.pop() ?? this.#ids.length;
    if (slot === MAX_SLOTS) throw new Error(`the table holds its maximum of ${MAX_SLOTS} entries`);
    const id = ++this.#lastGeneration * MAX_SLOTS + slot;
    this.#ids[slot] = id;
    this.#entries[slot] = entry;
    return id;
  }

  /** Removes and returns the entry; undefined when it was removed already. */
  remove(id: number): T | undefined {
    const slot = id % MAX_SLOTS;
    if (this.#ids[slot] !== id) return undefined;
    const entry = this.#entries[slot];
    this.#entries[slot] = undefined;
    this.#ids[slot] = FREE;
    this.#freeSlots.push(slot);
    return entry;
  }

  /** Yields ids and entries; entries may be removed meanwhile. */
  *[Symbol.iterator](): IterableIterator<[number, T]> {
    for (const [slot, id] of this.#ids.entries()) if (id !== FREE) yield [id, this.#entries[slot] as T];
  }
}
