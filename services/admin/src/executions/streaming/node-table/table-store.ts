import { Semaphore } from "@flyte-ts/async";
import type { Database } from "@flyte-ts/postgres";
import { Code, RpcError } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import type { NodePage } from "../../store/node-table/node-page.js";
import { deleteStoredTable, saveStoredTable } from "../../store/node-table/stored-table.js";
import { decodePages, encodePages } from "./stored-pages.js";
import type { TableFeed } from "./table-feed.js";

export interface TableStoreDeps {
  readonly db: Database;
  readonly logger: Logger;
}

/** Nodes from which on a table is stored: the nodes of a smaller one are read as fast. */
export const MIN_STORED_NODES = 1_000;
/** Most bytes of stored pages, some 4,000,000 nodes; a larger table is read each time. */
const MAX_BYTES = 32 * 1_024 * 1_024;

/**
 * Stores tables of ended executions in the background, one at a time. A table that could not be
 * stored is stored by its next reader.
 */
export class TableStore {
  readonly #deps: TableStoreDeps;
  readonly #one = new Semaphore(1);
  readonly #storing = new Map<TableFeed, Promise<void>>();

  constructor(deps: TableStoreDeps) {
    this.#deps = deps;
  }

  /** Stores the table of a feed, unless it is small or has been stored as it is. */
  store(feed: TableFeed): void {
    if (feed.size < MIN_STORED_NODES || feed.isStored || this.#storing.has(feed)) return;
    const stored = this.#one.run(() => this.#save(feed));
    this.#storing.set(
      feed,
      stored
        .catch((error: unknown) => {
          this.#deps.logger.warn({ executionId: String(feed.executionId), error: String(error) }, "a node table could not be stored");
        })
        .finally(() => this.#storing.delete(feed)),
    );
  }

  async #save(feed: TableFeed): Promise<void> {
    // Rows that change while they are encoded are newer than the snapshot: readers get them again.
    const { at: snapshot, sequence } = feed;
    const pages = await encodePages(feed.messages.rows);
    if (pages.length <= MAX_BYTES) await saveStoredTable(this.#deps.db, feed.executionId, { snapshot, pages });
    feed.setStored(sequence);
  }

  /**
   * Adds the rows of stored pages to a feed. Deletes pages that are damaged: the client resumes,
   * and gets the rows of the nodes.
   *
   * @throws RpcError UNAVAILABLE.
   */
  async load(feed: TableFeed, pages: Uint8Array, onRows: () => void): Promise<void> {
    const pagesOf = decodePages(pages);
    for (;;) {
      let next: IteratorResult<NodePage>;
      try {
        next = await pagesOf.next();
      } catch (error) {
        this.#deps.logger.error({ executionId: String(feed.executionId), error: String(error) }, "a stored node table is damaged");
        await deleteStoredTable(this.#deps.db, feed.executionId);
        throw new RpcError(Code.UNAVAILABLE, "the stored node table is damaged; resume to read the nodes");
      }
      if (next.done === true) break;
      feed.add(next.value);
      onRows();
    }
    feed.setStored(feed.sequence);
  }

  /** Waits for tables that are being stored. */
  async close(): Promise<void> {
    await Promise.all(this.#storing.values());
  }
}
