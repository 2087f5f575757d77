import type { NodeTable } from "../table/node-table.js";

/** Rows of a table for another worker, as columns of `rows.length` values. */
export interface NodeRows {
  /** The rows are those of another table: earlier ones no longer count. */
  readonly reset: boolean;
  /** Number of each row in its table. */
  readonly rows: Int32Array<ArrayBuffer>;
  readonly key: Float64Array<ArrayBuffer>;
  /** Key of the enclosing node; 0 at the top level. */
  readonly parent: Float64Array<ArrayBuffer>;
  /** NodeState. */
  readonly state: Uint8Array<ArrayBuffer>;
  readonly flags: Uint8Array<ArrayBuffer>;
  readonly attempts: Uint8Array<ArrayBuffer>;
  /** Infinity before the start. */
  readonly started: Float64Array<ArrayBuffer>;
  /** Infinity before the end. */
  readonly ended: Float64Array<ArrayBuffer>;
  /** Index into `specs` of the node's id in its workflow, −1 for the node's own id. */
  readonly spec: Int32Array<ArrayBuffer>;
  /** UTF-8 of the ids. */
  readonly ids: Uint8Array<ArrayBuffer>;
  /** Start of each id in `ids`; the value after the last has the end. */
  readonly idStart: Int32Array<ArrayBuffer>;
  /** Texts that `spec` refers to. */
  readonly specs: readonly string[];
}

/** Copies rows of a table. */
export function copyRows(table: NodeTable, rows: Int32Array<ArrayBuffer>, reset: boolean): NodeRows {
  const floats = (column: Float64Array): Float64Array<ArrayBuffer> => Float64Array.from(rows, (row) => column[row] as number);
  const bytes = (column: Uint8Array): Uint8Array<ArrayBuffer> => Uint8Array.from(rows, (row) => column[row] as number);
  const specs: string[] = [];
  const indexOf = new Map<number, number>();
  const specOf = (text: number): number => {
    if (text === -1) return -1;
    if (!indexOf.has(text)) indexOf.set(text, specs.push(table.textOf(text)) - 1);
    return indexOf.get(text) as number;
  };
  return {
    reset,
    rows,
    key: floats(table.key),
    parent: floats(table.parent),
    state: bytes(table.state),
    flags: bytes(table.flags),
    attempts: bytes(table.attempts),
    started: floats(table.started),
    ended: floats(table.ended),
    spec: Int32Array.from(rows, (row) => specOf(table.spec[row] as number)),
    ...copyIds(table, rows),
    specs,
  };
}

function copyIds({ ids, idStart }: NodeTable, rows: Int32Array): Pick<NodeRows, "ids" | "idStart"> {
  const starts = new Int32Array(rows.length + 1);
  for (const [at, row] of rows.entries()) starts[at + 1] = (starts[at] as number) + (idStart[row + 1] as number) - (idStart[row] as number);
  const copied = new Uint8Array(starts[rows.length] as number);
  for (const [at, row] of rows.entries()) copied.set(ids.subarray(idStart[row], idStart[row + 1]), starts[at]);
  return { ids: copied, idStart: starts };
}

/** Buffers that move with the rows to another worker. */
export function buffersOfRows(nodes: NodeRows): ArrayBuffer[] {
  const { rows, key, parent, state, flags, attempts, started, ended, spec, ids, idStart } = nodes;
  return [rows, key, parent, state, flags, attempts, started, ended, spec, ids, idStart].map(({ buffer }) => buffer);
}
