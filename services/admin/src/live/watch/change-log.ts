import { compareKeys, keyText } from "./cursor.js";
import type { WatchedRow } from "./row.js";
import type { Snapshot } from "./snapshot.js";

/** What one look at the database brought. */
export interface Group {
  /** When it was looked, and the look before: undefined at first. */
  readonly at: Snapshot;
  readonly before: Snapshot | undefined;
  /** Of the execution's row as it was then. */
  readonly executionHash: string;
}

/** A row in the order of changes. */
export interface Entry {
  readonly row: WatchedRow;
  readonly group: Group;
  /** Grows with every change of any row. */
  readonly sequence: number;
}

/** Smaller logs are not worth the work of closing their gaps. */
const GAPS = 256;

/**
 * The state of an execution in the order of its last changes: each row stands once, where it changed last. Who has read
 * up to a place finds behind it what has changed since, and of each row only the newest state; so the log does not grow
 * with time, and a reader may be as slow as it likes.
 */
export class ChangeLog {
  readonly #byKey = new Map<string, Entry>();
  /** By sequence; an entry that is no longer that of its row is a gap. */
  #entries: Entry[] = [];
  #sequence = 0;
  #open = 0;

  /** Sequence of the newest entry, 0 before the first. */
  get end(): number {
    return this.#sequence;
  }

  /** Rows that have not ended. */
  get open(): number {
    return this.#open;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Adds what a look brought, in the order of the rows' keys; rows that show what they showed before are left out. Whether anything is new. */
  add(rows: readonly WatchedRow[], group: Group): boolean {
    const before = this.#sequence;
    for (const row of rows.toSorted((a, b) => compareKeys(a.key, b.key))) this.#put(row, group);
    if (this.#entries.length > 2 * this.#byKey.size + GAPS) this.#entries = this.#entries.filter((entry) => this.#stands(entry));
    return this.#sequence > before;
  }

  #put(row: WatchedRow, group: Group): void {
    const key = keyText(row.key);
    const before = this.#byKey.get(key);
    if (before !== undefined && Buffer.compare(before.row.bytes, row.bytes) === 0) return;
    this.#open += Number(row.open) - Number(before?.row.open ?? false);
    const entry = { row, group, sequence: ++this.#sequence };
    this.#byKey.set(key, entry);
    this.#entries.push(entry);
  }

  /** What has changed behind a sequence, oldest first, up to so many bytes but at least one; and whether more follows. */
  after(sequence: number, maxBytes: number): { readonly entries: readonly Entry[]; readonly next: Entry | undefined } {
    const entries: Entry[] = [];
    let bytes = 0;
    for (let index = this.#firstAfter(sequence); index < this.#entries.length; index++) {
      const entry = this.#entries[index];
      if (entry === undefined || !this.#stands(entry)) continue;
      bytes += entry.row.bytes.length;
      if (entries.length > 0 && bytes > maxBytes) return { entries, next: entry };
      entries.push(entry);
    }
    return { entries, next: undefined };
  }

  /** All rows by their keys. */
  rows(): WatchedRow[] {
    return [...this.#byKey.values()].map(({ row }) => row).sort((a, b) => compareKeys(a.key, b.key));
  }

  #stands(entry: Entry): boolean {
    return this.#byKey.get(keyText(entry.row.key)) === entry;
  }

  #firstAfter(sequence: number): number {
    let [low, high] = [0, this.#entries.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#entries[middle]?.sequence ?? 0) > sequence) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
