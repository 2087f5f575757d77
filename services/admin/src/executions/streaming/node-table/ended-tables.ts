import type { Logger } from "@flyte-ts/telemetry";
import type { ExecutionName } from "../../model/identifier.js";
import type { FeedHandle } from "../feed-registry.js";
import type { NodeTableFeeds } from "./feed-source.js";
import type { TableFeed } from "./table-feed.js";

/** Nodes from which on a table is stored when its execution ends, before someone opens it. */
export const MIN_LARGE_NODES = 10_000;
/** Most executions that wait; the table of another one is stored by its first reader. */
const MAX_WAITING = 100;

/**
 * Reads the tables of large executions that have ended, one after the other, so that their feeds
 * store them.
 */
export class EndedTables {
  readonly #logger: Logger;
  readonly #feeds: NodeTableFeeds;
  readonly #waiting: ExecutionName[] = [];
  #isRunning = false;
  #isClosed = false;

  constructor({ logger }: { readonly logger: Logger }, feeds: NodeTableFeeds) {
    this.#logger = logger;
    this.#feeds = feeds;
  }

  /** Notes an execution that has ended. */
  add(name: ExecutionName, nodes: number): void {
    if (nodes < MIN_LARGE_NODES || this.#waiting.length === MAX_WAITING) return;
    this.#waiting.push(name);
    if (!this.#isRunning) void this.#run();
  }

  close(): void {
    this.#isClosed = true;
    this.#waiting.length = 0;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let name = this.#waiting.shift(); name !== undefined; name = this.#waiting.shift()) {
      try {
        await this.#read(name);
      } catch (error) {
        this.#logger.debug({ execution: name.name, error: String(error) }, "the node table of an ended execution was not read");
      }
    }
    this.#isRunning = false;
  }

  async #read(name: ExecutionName): Promise<void> {
    const handle: FeedHandle<TableFeed> = await this.#feeds.acquire(name);
    try {
      while (!handle.isComplete() && handle.failure === undefined && !this.#isClosed) {
        await new Promise<void>((resolve) => handle.waiters.add(resolve));
      }
    } finally {
      handle.release();
    }
  }
}
