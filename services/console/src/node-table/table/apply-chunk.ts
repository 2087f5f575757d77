import type { NodeTableChunk } from "../wire/read-chunk.js";
import type { NodeColumns } from "../wire/read-columns.js";
import { MalformedMessageError } from "../../wire/read-varints.js";
import { stateOf } from "./node-state.js";
import type { NodeTable } from "./node-table.js";

/** Rows of a table that a message has changed. */
export interface TableChange {
  /** Rows from here on are new. */
  readonly firstNewRow: number;
  /** Rows that were there before and have been replaced. */
  readonly replaced: readonly number[];
  /** A replaced row looks otherwise than before, or ended: orders and groups may change. */
  readonly movesRows: boolean;
}

/**
 * Texts of one connection: their indexes count from its first message, so a table that outlives the
 * connection has indexes of its own.
 */
export class ConnectionTexts {
  readonly #table: NodeTable;
  readonly #indexes: number[] = [];

  constructor(table: NodeTable) {
    this.#table = table;
  }

  add(texts: readonly string[]): void {
    for (const text of texts) this.#indexes.push(this.#table.addText(text));
  }

  /**
   * Returns the table's index of the text with a connection's index plus 1; −1 for 0.
   *
   * @throws MalformedMessageError for a text that the connection has not sent.
   */
  indexOf(reference: number): number {
    if (reference === 0) return -1;
    const index = this.#indexes[reference - 1];
    if (index === undefined) throw new MalformedMessageError(`text ${reference} of ${this.#indexes.length} is not there`);
    return index;
  }
}

/**
 * Applies a message of a node table's stream: a row with a known key replaces the earlier row, so
 * that messages may repeat. The caller begins a new table on `reset`, and new texts with each
 * connection.
 *
 * @throws MalformedMessageError when a row refers to a text that the connection has not sent.
 */
export function applyChunk(table: NodeTable, texts: ConnectionTexts, chunk: NodeTableChunk): TableChange {
  const firstNewRow = table.length;
  texts.add(chunk.texts);
  const replaced: number[] = [];
  const movesRows = chunk.nodes !== undefined && applyRows(table, texts, chunk.nodes, replaced);
  return { firstNewRow, replaced, movesRows };
}

/** Applies rows, lists those that replace earlier ones, and reports whether one of them moves. */
function applyRows(table: NodeTable, texts: ConnectionTexts, columns: NodeColumns, replaced: number[]): boolean {
  const source = { columns, texts, at: 0 };
  let [before, from, movesRows] = [-1, 0, false];
  for (; source.at < columns.length; source.at++) {
    const { at } = source;
    const key = columns.key[at] as number;
    const to = from + (columns.idSuffixLength[at] as number);
    let row = table.rowOf(key);
    if (row === -1) {
      row = table.addRow(key, { before, shared: columns.idPrefix[at] as number, suffix: columns.idSuffix, from, to });
      setRow(table, row, source);
    } else {
      const [state, started] = [table.state[row], table.started[row]];
      setRow(table, row, source);
      movesRows ||= state !== table.state[row] || started !== table.started[row];
      replaced.push(row);
    }
    [before, from] = [row, to];
  }
  return movesRows;
}

/** Row of columns that is copied into the table. */
interface SourceRow {
  readonly columns: NodeColumns;
  readonly texts: ConnectionTexts;
  readonly at: number;
}

function setRow(table: NodeTable, row: number, { columns, texts, at }: SourceRow): void {
  const [phase, cache] = [columns.phase[at] as number, columns.cache[at] as number];
  const [attempts, flags] = [columns.attempts[at] as number, columns.flags[at] as number];
  table.parent[row] = columns.parent[at] as number;
  table.queued[row] = columns.queued[at] as number;
  table.started[row] = columns.started[at] as number;
  table.ended[row] = columns.ended[at] as number;
  table.phase[row] = phase;
  table.cache[row] = cache;
  table.attempts[row] = attempts;
  table.flags[row] = flags;
  table.state[row] = stateOf(phase, cache, attempts, flags);
  table.entity[row] = texts.indexOf(columns.entity[at] as number);
  table.error[row] = texts.indexOf(columns.error[at] as number);
  table.spec[row] = texts.indexOf(columns.spec[at] as number);
}
