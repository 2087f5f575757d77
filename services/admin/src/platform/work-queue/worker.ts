import { type Database, taskFailures } from "@flyte-ts/postgres";
import { type Closeable, startPeriodic } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { extendLeases, type ClaimedRow, type QueueTable } from "./lease.js";

export interface WorkerDeps {
  readonly db: Pick<Database, "query" | "outages">;
  readonly logger: Logger;
}

/** A queue table and the processing of its rows. */
export interface QueueHandler<Row extends ClaimedRow> {
  readonly table: QueueTable;
  /**
   * Lease duration, ms. When it expires, another worker may claim the row; the worker renews it
   * during processing.
   */
  readonly leaseMs: number;
  /** Maximum of rows processed concurrently. */
  readonly concurrency: number;
  /** Poll interval, ms, for rows without a notification. */
  readonly pollMs: number;
  /** Claims up to `limit` rows that are due. `inFlight` are the rows in progress. */
  readonly claim: (limit: number, inFlight: readonly Row[]) => Promise<readonly Row[]>;
  /** Processes the row and stores the result. If it rejects, the lease expires. */
  readonly process: (row: Row) => Promise<void>;
  /** Log text for failures to claim or to store. */
  readonly errorMessage: string;
}

export interface QueueWorker<Row extends ClaimedRow> extends Closeable {
  /** Polls now. */
  wake(): void;
  /**
   * Reserves a slot for a row that the caller will insert as claimed; undefined when none is free.
   * A concurrent claim may fill the same slot: then one more row is processed for that time.
   */
  reserve(): Slot<Row> | undefined;
}

/** A slot for one row. Exactly one of the two methods must be called. */
export interface Slot<Row extends ClaimedRow> {
  /** Processes the row, which is stored and leased by this process. */
  start(row: Row): void;
  /** Frees the slot without a row. */
  release(): void;
}

/**
 * Claims and processes rows that are due until it is closed. Any number of replicas share the work.
 */
export function startWorker<Row extends ClaimedRow>(deps: WorkerDeps, handler: QueueHandler<Row>): QueueWorker<Row> {
  const loop = new WorkerLoop(deps, handler);
  const running = loop.run();
  const extending = startPeriodic(
    {
      name: `leases of ${handler.table.name}`,
      intervalMs: handler.leaseMs / 3,
      batchSize: 1,
      run: () => loop.extend(),
      errorMessage: `${handler.errorMessage}: leases cannot be extended`,
    },
    taskFailures(deps.db, deps.logger),
  );
  return {
    wake: () => loop.wake(),
    reserve: () => loop.reserve(),
    close: async () => {
      loop.stop();
      await running;
      await extending.close();
    },
  };
}

class WorkerLoop<Row extends ClaimedRow> {
  readonly #deps: WorkerDeps;
  readonly #handler: QueueHandler<Row>;
  readonly #inFlight = new Map<Promise<void>, Row>();
  #reserved = 0;
  #stopped = false;
  #woken = false;
  #wake: () => void = () => undefined;

  constructor(deps: WorkerDeps, handler: QueueHandler<Row>) {
    this.#deps = deps;
    this.#handler = handler;
  }

  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  reserve(): Slot<Row> | undefined {
    if (this.#stopped || this.#free() <= 0) return undefined;
    this.#reserved++;
    return {
      start: (row) => {
        this.#reserved--;
        // After a stop in the meantime, the lease expires.
        if (!this.#stopped) this.#start(row);
      },
      release: () => {
        this.#reserved--;
        this.wake();
      },
    };
  }

  #free(): number {
    return this.#handler.concurrency - this.#inFlight.size - this.#reserved;
  }

  stop(): void {
    this.#stopped = true;
    this.wake();
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const free = this.#free();
      const rows = free > 0 ? await this.#claim(free) : [];
      for (const row of rows) this.#start(row);
      // Every iteration awaits the database or a wake-up.
      if (rows.length < free || free <= 0) await this.#pause();
    }
    await Promise.all(this.#inFlight.keys());
  }

  /**
   * Renews all leases with one statement. Returns 0, so that the periodic task does not repeat at
   * once.
   */
  async extend(): Promise<number> {
    const { table, leaseMs } = this.#handler;
    if (this.#inFlight.size > 0) await extendLeases(this.#deps.db, table, { rows: [...this.#inFlight.values()], leaseMs });
    return 0;
  }

  async #claim(limit: number): Promise<readonly Row[]> {
    try {
      return await this.#handler.claim(limit, [...this.#inFlight.values()]);
    } catch (error) {
      this.#logError(error);
      return [];
    }
  }

  #start(row: Row): void {
    const work = this.#handler
      .process(row)
      .catch((error: unknown) => this.#logError(error))
      .finally(() => {
        this.#inFlight.delete(work);
        this.wake();
      });
    this.#inFlight.set(work, row);
  }

  #logError(error: unknown): void {
    const { table, errorMessage: message } = this.#handler;
    taskFailures(this.#deps.db, this.#deps.logger).failed({ task: table.name, error, message });
  }

  async #pause(): Promise<void> {
    if (this.#woken || this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#handler.pollMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
