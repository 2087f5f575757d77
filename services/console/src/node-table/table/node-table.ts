import { KeyIndex } from "./key-index.js";

const FIRST_ROWS = 1024;
const FIRST_ID_BYTES = 32 * 1024;
const ascii = new TextDecoder();

/** One array of a table; it has room for more rows than the table has. */
type Column = Float64Array | Int32Array | Uint8Array;

function grown<Array extends Column>(column: Array, length: number): Array {
  const larger = new (column.constructor as new (length: number) => Array)(length);
  larger.set(column);
  return larger;
}

/** Nodes of an execution as columns, in the order of arrival; a row keeps its place. */
export class NodeTable {
  /** Number of rows. */
  length = 0;
  key = new Float64Array(FIRST_ROWS);
  /** Key of the enclosing node; 0 at the top level. */
  parent = new Float64Array(FIRST_ROWS);
  /** Milliseconds since the creation of the execution, as all times. */
  queued = new Float64Array(FIRST_ROWS);
  /** Infinity before the start. */
  started = new Float64Array(FIRST_ROWS);
  /** Infinity before the end. */
  ended = new Float64Array(FIRST_ROWS);
  phase = new Uint8Array(FIRST_ROWS);
  /** NodeState of the row. */
  state = new Uint8Array(FIRST_ROWS);
  flags = new Uint8Array(FIRST_ROWS);
  cache = new Uint8Array(FIRST_ROWS);
  attempts = new Uint8Array(FIRST_ROWS);
  /** Index into `texts` of the task's name, −1 for none. */
  entity = new Int32Array(FIRST_ROWS);
  /** Index into `texts` of the error's code, −1 for none. */
  error = new Int32Array(FIRST_ROWS);
  /** Index into `texts` of the node's id in its workflow, −1 for the node's own id. */
  spec = new Int32Array(FIRST_ROWS);
  readonly texts: string[] = [];
  /** UTF-8 of all ids. */
  ids = new Uint8Array(FIRST_ID_BYTES);
  /** Start of each row's id in `ids`; the row after the last has the end. */
  idStart = new Int32Array(FIRST_ROWS + 1);
  readonly #index = new KeyIndex();
  readonly #textIndexes = new Map<string, number>();

  /** Returns the row of a key, −1 if there is none. */
  rowOf(key: number): number {
    return this.#index.find(key, this.key);
  }

  idOf(row: number): string {
    return ascii.decode(this.ids.subarray(this.idStart[row], this.idStart[row + 1]));
  }

  /** Returns the text of an index, empty for −1. */
  textOf(index: number): string {
    return this.texts[index] ?? "";
  }

  /** Returns the index of a text, and adds a text that is new. */
  addText(text: string): number {
    let index = this.#textIndexes.get(text);
    if (index === undefined) {
      index = this.texts.push(text) - 1;
      this.#textIndexes.set(text, index);
    }
    return index;
  }

  /**
   * Adds a row with a new key and an id: `shared` bytes from the front of the id of row `before`,
   * then bytes of `suffix`. Returns the row; the caller sets the other columns.
   */
  addRow(
    key: number,
    id: { readonly before: number; readonly shared: number; readonly suffix: Uint8Array; readonly from: number; readonly to: number },
  ): number {
    const row = this.length;
    if (row === this.key.length) this.#growRows();
    const start = this.idStart[row] as number;
    const end = start + id.shared + id.to - id.from;
    if (end > this.ids.length) this.ids = grown(this.ids, Math.max(end, this.ids.length * 2));
    const { ids } = this;
    if (id.shared > 0) {
      const source = this.idStart[id.before] as number;
      for (let byte = 0; byte < id.shared; byte++) ids[start + byte] = ids[source + byte] as number;
    }
    for (let byte = id.from, target = start + id.shared; byte < id.to; byte++, target++) ids[target] = id.suffix[byte] as number;
    this.idStart[row + 1] = end;
    this.key[row] = key;
    this.length = row + 1;
    this.#index.add(this.key);
    return row;
  }

  #growRows(): void {
    const length = this.key.length * 2;
    for (const name of ["key", "parent", "queued", "started", "ended"] as const) this[name] = grown(this[name], length);
    for (const name of ["phase", "state", "flags", "cache", "attempts"] as const) this[name] = grown(this[name], length);
    for (const name of ["entity", "error", "spec"] as const) this[name] = grown(this[name], length);
    this.idStart = grown(this.idStart, length + 1);
  }
}
