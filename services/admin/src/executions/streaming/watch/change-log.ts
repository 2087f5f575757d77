import { compareKeys, keyText } from "./cursor.js";
import type { WatchedRow } from "../../store/watch/row.js";
import type { Snapshot } from "../../store/watch/snapshot.js";

/** Result of one poll of the database. */
export interface PollResult {
  /** Snapshots of this poll and the previous one; undefined for the first. */
  readonly at: Snapshot;
  readonly before: Snapshot | undefined;
  /** Hash of the execution's row at that time. */
  readonly executionHash: string;
}

/** A row in the order of changes. */
export interface ChangeEntry {
  readonly row: WatchedRow;
  readonly group: PollResult;
  /** Increases with every change of any row. */
  readonly sequence: number;
}

/** Number of gaps below which a log is not compacted. */
const GAPS = 256;

/**
 * The state of an execution in the order of its last changes: each row occurs once, at its last
 * change. A reader finds after its position everything that has changed since, each row only in its
 * newest state. The log is therefore bounded over time, and readers may be arbitrarily slow.
 */
export class ChangeLog {
  readonly #byKey = new Map<string, ChangeEntry>();
  /** Sorted by sequence; an entry that a newer one replaced is a gap. */
  #entries: ChangeEntry[] = [];
  #sequence = 0;
  #open = 0;

  /** Sequence of the newest entry, 0 before the first. */
  get end(): number {
    return this.#sequence;
  }

  /** Number of non-terminal rows. */
  get open(): number {
    return this.#open;
  }

  get size(): number {
    return this.#byKey.size;
  }

  /** Adds the rows of a poll in key order, except unchanged ones. Returns true when any changed. */
  add(rows: readonly WatchedRow[], group: PollResult): boolean {
    const before = this.#sequence;
    for (const row of rows.toSorted((a, b) => compareKeys(a.key, b.key))) this.#put(row, group);
    if (this.#entries.length > 2 * this.#byKey.size + GAPS) this.#entries = this.#entries.filter((entry) => this.#stands(entry));
    return this.#sequence > before;
  }

  #put(row: WatchedRow, group: PollResult): void {
    const key = keyText(row.key);
    const before = this.#byKey.get(key);
    if (before !== undefined && Buffer.compare(before.row.bytes, row.bytes) === 0) return;
    this.#open += Number(row.open) - Number(before?.row.open ?? false);
    const entry = { row, group, sequence: ++this.#sequence };
    this.#byKey.set(key, entry);
    this.#entries.push(entry);
  }

  /**
   * Returns the changes after a sequence, oldest first, up to `maxBytes` but at least one, and the
   * next one if more follow.
   */
  after(sequence: number, maxBytes: number): { readonly entries: readonly ChangeEntry[]; readonly next: ChangeEntry | undefined } {
    const entries: ChangeEntry[] = [];
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

  /** Returns all rows by key. */
  rows(): WatchedRow[] {
    return [...this.#byKey.values()].map(({ row }) => row).sort((a, b) => compareKeys(a.key, b.key));
  }

  #stands(entry: ChangeEntry): boolean {
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
