import type { NodePage } from "../../store/node-table/node-page.js";
import type { NodeTableChanges, OpenedTable } from "../../store/node-table/read.js";
import type { Snapshot } from "../../store/watch/snapshot.js";
import type { Feed } from "../feed-registry.js";
import { TableMessages } from "./table-messages.js";

/** The node table of one execution for all its watchers in this process. */
export class TableFeed implements Feed<NodeTableChanges> {
  readonly executionId: bigint;
  readonly messages = new TableMessages();
  #at: Snapshot;
  #endedAt: number | undefined;
  /** Sequence of the last change that the stored table has; undefined without one. */
  #storedUpTo: number | undefined;

  constructor({ executionId, snapshot, bytes, endedAt }: Omit<OpenedTable, "storedPages">) {
    this.executionId = executionId;
    this.#at = snapshot;
    this.#endedAt = endedAt;
    this.messages.setExecution(bytes);
  }

  get at(): Snapshot {
    return this.#at;
  }

  get size(): number {
    return this.messages.size;
  }

  get open(): number {
    return this.messages.open;
  }

  get endedAt(): number | undefined {
    return this.#endedAt;
  }

  /** Sequence of the last change of a row. */
  get sequence(): number {
    return this.messages.rows.order.end;
  }

  /** True when the stored table has all rows as they are. */
  get isStored(): boolean {
    return this.#storedUpTo === this.sequence;
  }

  /** Tells that the table has been stored with the changes up to a sequence. */
  setStored(sequence: number): void {
    this.#storedUpTo = sequence;
  }

  /** Adds nodes of the first read. */
  add(page: NodePage): void {
    this.messages.put(page);
  }

  /** Ends the first read: the rows are a consistent snapshot. */
  setLoaded(): void {
    this.messages.setLoaded();
  }

  apply({ execution, nodes }: NodeTableChanges, at: Snapshot): boolean {
    this.#at = at;
    const hasNodes = nodes !== undefined && this.messages.put(nodes);
    if (execution === undefined) return hasNodes;
    this.#endedAt = execution.endedAt;
    return this.messages.setExecution(execution.bytes) || hasNodes;
  }
}
