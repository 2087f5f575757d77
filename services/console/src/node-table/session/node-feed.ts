import type { TableChange } from "../table/apply-chunk.js";
import type { NodeTable } from "../table/node-table.js";
import { buffersOfRows, copyRows } from "./node-rows.js";
import type { WorkerMessage } from "./protocol.js";

/** Sends all rows of a table to a page that follows them, and then those that change. */
export class NodeFeed {
  readonly #post: (message: WorkerMessage, moved: ArrayBuffer[]) => void;
  #isFollowed = false;
  #sent: NodeTable | undefined;

  constructor(post: (message: WorkerMessage, moved: ArrayBuffer[]) => void) {
    this.#post = post;
  }

  follow(table: NodeTable): void {
    this.#isFollowed = true;
    this.#sent = undefined;
    this.applied(table, undefined);
  }

  /** Sends what a change made other of the table that is shown; another table is sent whole. */
  applied(table: NodeTable, change: TableChange | undefined): void {
    if (!this.#isFollowed) return;
    const reset = table !== this.#sent;
    this.#sent = table;
    const first = reset ? 0 : (change?.firstNewRow ?? table.length);
    const replaced = reset ? [] : (change?.replaced ?? []);
    const rows = new Int32Array(replaced.length + table.length - first);
    rows.set(replaced);
    for (let row = first; row < table.length; row++) rows[replaced.length + row - first] = row;
    if (!reset && rows.length === 0) return;
    const nodes = copyRows(table, rows, reset);
    this.#post({ kind: "nodes", nodes }, buffersOfRows(nodes));
  }
}
