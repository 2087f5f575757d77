import { Semaphore } from "@flyte-ts/async";
import type { Database } from "@flyte-ts/postgres";
import { RpcError } from "@flyte-ts/rpc";
import type { Logger } from "@flyte-ts/telemetry";
import type { WatchedTable } from "../node-table/send-messages.js";
import { Waiters } from "../waiters.js";
import { ItemTable, type ItemTableKey } from "./item-table.js";

export interface ItemTablesDeps {
  readonly db: Database;
  readonly logger: Logger;
  readonly clock: () => Date;
}

export interface ItemTablesLimits {
  /** Interval between reads of a table, ms, since notifications of changes may be lost. */
  readonly pollMs: number;
  /** Maximum interval between messages to a watcher, ms. */
  readonly heartbeatMs: number;
}

/** A table in use by a watcher. */
export interface ItemTableHandle extends WatchedTable {
  release(): void;
}

/** Maximum of concurrent reads: the first one of a large array decodes megabytes of events. */
const MAX_READS = 2;
/** Minimum interval between reads of a table, ms, and the addition for each of its rows. */
const MIN_POLL_MS = 200;
const POLL_COST_PER_ROW_MS = 0.01;

/** Holds one table for each watched array node and attempt, for all its watchers. */
export class ItemTables {
  readonly #deps: ItemTablesDeps;
  readonly #limits: ItemTablesLimits;
  readonly #entries = new Map<string, Entry>();
  readonly #reads = new Semaphore(MAX_READS);

  constructor(deps: ItemTablesDeps, limits: ItemTablesLimits) {
    this.#deps = deps;
    this.#limits = limits;
  }

  get size(): number {
    return this.#entries.size;
  }

  acquire(key: ItemTableKey): ItemTableHandle {
    const { project, domain, name } = key.node.executionId;
    const id = JSON.stringify([project, domain, name, key.node.nodeId, key.attempt]);
    let entry = this.#entries.get(id);
    if (entry === undefined) {
      entry = new Entry(id, new ItemTable(this.#deps.db, key), this.#deps.clock().getTime());
      this.#entries.set(id, entry);
      void this.#read(entry);
    }
    const used = entry;
    used.users++;
    let isReleased = false;
    return {
      messages: used.table.messages,
      waiters: used.waiters,
      get failure() {
        return used.failure;
      },
      get heartbeats() {
        return used.heartbeats;
      },
      isComplete: () => used.table.isOver,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        if (--used.users === 0) this.#drop(used);
      },
    };
  }

  /** Reads the tables of these executions soon. */
  changed(executionIds: Iterable<bigint>): void {
    if (this.#entries.size === 0) return;
    const changed = new Set(executionIds);
    for (const entry of this.#entries.values()) {
      const { executionId } = entry.table;
      if (executionId === undefined || !changed.has(executionId) || entry.isDirty || entry.table.isOver) continue;
      entry.isDirty = true;
      if (!entry.isReading) this.#schedule(entry);
    }
  }

  close(): void {
    for (const entry of this.#entries.values()) clearTimeout(entry.timer);
    this.#entries.clear();
  }

  #drop(entry: Entry): void {
    clearTimeout(entry.timer);
    if (this.#entries.get(entry.id) === entry) this.#entries.delete(entry.id);
  }

  async #read(entry: Entry): Promise<void> {
    entry.isReading = true;
    entry.isDirty = false;
    entry.hasNewRows = false;
    try {
      await this.#reads.run(async () => {
        if (this.#entries.get(entry.id) === entry) await entry.table.read(() => entry.wakeForRows());
      });
      if (!entry.isLoaded) {
        entry.isLoaded = true;
        entry.table.messages.setLoaded();
      }
    } catch (error) {
      if (!entry.isLoaded || error instanceof RpcError) this.#fail(entry, error);
      else this.#deps.logger.warn({ error: String(error) }, "the items of an array could not be read; retrying");
    }
    entry.isReading = false;
    this.#beat(entry);
    entry.waiters.wake();
    if (this.#entries.get(entry.id) === entry && !entry.table.isOver) this.#schedule(entry);
  }

  /** Ends the streams of a table with an error; the next watcher reads it anew. */
  #fail(entry: Entry, error: unknown): void {
    entry.failure = error instanceof Error ? error : new Error(String(error));
    this.#drop(entry);
  }

  /** Counts a heartbeat when no message has been due for long. */
  #beat(entry: Entry): void {
    const now = this.#deps.clock().getTime();
    if (entry.hasNewRows) entry.messageAt = now;
    if (now - entry.messageAt < this.#limits.heartbeatMs) return;
    entry.messageAt = now;
    entry.heartbeats++;
  }

  #schedule(entry: Entry): void {
    clearTimeout(entry.timer);
    const { pollMs, heartbeatMs } = this.#limits;
    const minMs = MIN_POLL_MS + POLL_COST_PER_ROW_MS * entry.table.messages.size;
    const delayMs = entry.isDirty ? minMs : Math.max(minMs, Math.min(pollMs, heartbeatMs));
    entry.timer = setTimeout(() => void this.#read(entry), delayMs).unref();
  }
}

class Entry {
  readonly waiters = new Waiters();
  users = 0;
  heartbeats = 0;
  failure: Error | undefined;
  isLoaded = false;
  isReading = false;
  /** The execution has changed since the last read began. */
  isDirty = false;
  hasNewRows = false;
  timer: NodeJS.Timeout | undefined;

  constructor(
    readonly id: string,
    readonly table: ItemTable,
    /** Time of the last message or heartbeat, ms since the epoch. */
    public messageAt: number,
  ) {}

  wakeForRows(): void {
    this.hasNewRows = true;
    this.waiters.wake();
  }
}
