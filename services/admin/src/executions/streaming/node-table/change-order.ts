/** Number of gaps below which the order is not compacted. */
const GAPS = 256;

/**
 * Rows in the order of their last changes. A reader finds after its position each row that has
 * changed since, once.
 */
export class ChangeOrder {
  /** Sequence of each row's last change, by row. */
  readonly #sequences: number[] = [];
  /** Rows by change; an entry is a gap when the row has changed again. */
  #rows: number[] = [];
  /** Sequence of each entry, ascending. */
  #at: number[] = [];
  #sequence = 0;

  /** Sequence of the latest change, 0 before the first. */
  get end(): number {
    return this.#sequence;
  }

  touch(row: number): void {
    this.#sequences[row] = ++this.#sequence;
    this.#rows.push(row);
    this.#at.push(this.#sequence);
    if (this.#rows.length > 2 * this.#sequences.length + GAPS) this.#compact();
  }

  /**
   * Returns up to `limit` rows that have changed after a sequence, oldest change first, and the
   * sequence that a reader of these rows has reached.
   */
  after(sequence: number, limit: number): { readonly rows: readonly number[]; readonly sequence: number } {
    const rows: number[] = [];
    for (let entry = this.#firstAfter(sequence); entry < this.#rows.length; entry++) {
      const row = this.#rows[entry] ?? 0;
      const at = this.#at[entry] ?? 0;
      if (this.#sequences[row] !== at) continue;
      rows.push(row);
      if (rows.length === limit) return { rows, sequence: at };
    }
    return { rows, sequence: this.#sequence };
  }

  #firstAfter(sequence: number): number {
    let [low, high] = [0, this.#at.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#at[middle] ?? 0) > sequence) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  #compact(): void {
    const isLast = (entry: number): boolean => this.#sequences[this.#rows[entry] ?? 0] === this.#at[entry];
    const kept = [...this.#rows.keys()].filter(isLast);
    [this.#rows, this.#at] = [kept.map((entry) => this.#rows[entry] ?? 0), kept.map((entry) => this.#at[entry] ?? 0)];
  }
}
