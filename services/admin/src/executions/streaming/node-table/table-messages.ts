import { randomUUID } from "node:crypto";
import type { NodePage } from "../../store/node-table/node-page.js";
import { FIRST_PAGE, PAGE } from "../../store/node-table/read.js";
import type { TableCursor } from "./cursor.js";
import { encodeChunk, type TableMessage } from "./encode-chunk.js";
import { TableRows } from "./table-rows.js";

/** Position of one watcher. */
export interface TablePosition {
  /** Sequence of the last change sent; undefined before the first message of a complete table. */
  readonly sequence: number | undefined;
  /** Version of the execution sent, 0 for none. */
  readonly execution: number;
  /** Number of texts sent on this connection. */
  readonly texts: number;
  /** The last message completed the table. */
  readonly complete: boolean;
}

export interface NextChunk {
  readonly message: TableMessage;
  readonly position: TablePosition;
}

const START: TablePosition = { sequence: undefined, execution: 0, texts: 0, complete: false };

/** A table, and the messages that its watchers get after their positions, each encoded once. */
export class TableMessages {
  readonly #tag = randomUUID();
  readonly rows = new TableRows();
  #execution: Uint8Array | undefined;
  #executionVersion = 0;
  #isLoaded = false;
  /** Messages encoded since the last change, by the position that they follow. */
  readonly #encoded = new Map<string, NextChunk>();

  /** Number of rows. */
  get size(): number {
    return this.rows.length;
  }

  /** Number of non-terminal rows. */
  get open(): number {
    return this.rows.open;
  }

  /** Adds or replaces rows; returns true when any has changed. */
  put(page: NodePage): boolean {
    return this.#changed(this.rows.put(page));
  }

  /** Replaces the encoded execution; returns true when it has changed. */
  setExecution(bytes: Uint8Array): boolean {
    const changed = this.#execution === undefined || Buffer.compare(bytes, this.#execution) !== 0;
    if (changed) this.#executionVersion++;
    this.#execution = bytes;
    return this.#changed(changed);
  }

  /** Ends the first read: the rows are a consistent snapshot. */
  setLoaded(): void {
    this.#isLoaded = true;
    this.#changed(true);
  }

  #changed(changed: boolean): boolean {
    if (changed) this.#encoded.clear();
    return changed;
  }

  /** Position after a cursor: at the start for a cursor of another table. */
  positionOf(cursor: TableCursor | undefined): TablePosition {
    if (cursor === undefined || cursor.feed !== this.#tag || cursor.sequence > this.rows.order.end) return START;
    const { sequence, execution, ended } = cursor;
    return { sequence, execution, texts: 0, complete: ended };
  }

  /** Returns the message after a position; undefined when the watcher is up to date. */
  next(from: TablePosition): NextChunk | undefined {
    const isCurrent = from.sequence === this.rows.order.end && from.execution === this.#executionVersion;
    if (isCurrent && (from.complete || !this.#isLoaded)) return undefined;
    // Nothing has been read yet.
    if (this.#execution === undefined) return undefined;
    const key = `${from.sequence ?? ""}/${from.execution}/${from.texts}`;
    let made = this.#encoded.get(key);
    if (made === undefined) this.#encoded.set(key, (made = this.#make(from)));
    return made;
  }

  #make(from: TablePosition): NextChunk {
    const { rows, sequence } = this.rows.order.after(from.sequence ?? 0, from.sequence === undefined ? FIRST_PAGE : PAGE);
    const texts = this.rows.texts.from(from.texts);
    const complete = this.#isLoaded && sequence === this.rows.order.end;
    const position = { sequence, execution: this.#executionVersion, texts: from.texts + texts.length, complete };
    const execution = from.execution === this.#executionVersion ? undefined : this.#execution;
    const reset = from.sequence === undefined;
    return { position, message: encodeChunk(this.rows, { cursor: this.#cursor(position), reset, complete, texts, rows, execution }) };
  }

  /** Heartbeat with the watcher's cursor. */
  heartbeat(at: TablePosition): TableMessage {
    return encodeChunk(this.rows, { cursor: this.#cursor(at) });
  }

  /** The last message. */
  end(at: TablePosition): TableMessage {
    return encodeChunk(this.rows, { cursor: { ...this.#cursor(at), ended: true } });
  }

  #cursor({ sequence = 0, execution }: TablePosition): TableCursor {
    return { feed: this.#tag, sequence, execution, ended: false };
  }
}
