import type { Queryable } from "@flyte-ts/postgres";
import { type Closeable, startPeriodic } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { extendLeases, type TakenRow, type WorkTable } from "./lease.js";

export interface WorkerDeps {
  readonly db: Queryable;
  readonly logger: Logger;
}

/** A queue table and the processing of its rows. */
export interface Work<Row extends TakenRow> {
  readonly table: WorkTable;
  /** Lease duration, ms. When it expires, another worker may claim the row; the worker renews it during processing. */
  readonly leaseMs: number;
  /** Maximum of rows processed concurrently. */
  readonly inFlight: number;
  /** Poll interval, ms, for rows without a notification. */
  readonly pollMs: number;
  /** Claims up to `limit` rows that are due. `inHand` are the rows in progress. */
  readonly take: (limit: number, inHand: readonly Row[]) => Promise<readonly Row[]>;
  /** Processes the row and stores the result. If it rejects, the lease expires. */
  readonly carryOut: (row: Row) => Promise<void>;
  /** Log text for failures to claim or to store. */
  readonly trouble: string;
}

export interface Worker<Row extends TakenRow> extends Closeable {
  /** Polls now. */
  wake(): void;
  /**
   * Reserves a slot for a row that the caller will insert as claimed; undefined when none is free. A concurrent claim
   * may fill the same slot: then one more row is processed for that time.
   */
  reserve(): Place<Row> | undefined;
}

/** A slot for one row. Exactly one of the two methods must be called. */
export interface Place<Row extends TakenRow> {
  /** Processes the row, which is stored and leased by this process. */
  begin(row: Row): void;
  /** Frees the slot without a row. */
  release(): void;
}

/** Claims and processes rows that are due until it is closed. Any number of replicas share the work. */
export function startWorker<Row extends TakenRow>(deps: WorkerDeps, work: Work<Row>): Worker<Row> {
  const loop = new WorkLoop(deps, work);
  const running = loop.run();
  const extending = startPeriodic(
    { intervalMs: work.leaseMs / 3, batchSize: 1, run: () => loop.extend(), errorMessage: `${work.trouble}: leases cannot be extended` },
    deps.logger,
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

class WorkLoop<Row extends TakenRow> {
  readonly #deps: WorkerDeps;
  readonly #work: Work<Row>;
  readonly #inHand = new Map<Promise<void>, Row>();
  #reserved = 0;
  #stopped = false;
  #woken = false;
  #wake: () => void = () => undefined;

  constructor(deps: WorkerDeps, work: Work<Row>) {
    this.#deps = deps;
    this.#work = work;
  }

  wake(): void {
    this.#woken = true;
    this.#wake();
  }

  reserve(): Place<Row> | undefined {
    if (this.#stopped || this.#free() <= 0) return undefined;
    this.#reserved++;
    return {
      begin: (row) => {
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
    return this.#work.inFlight - this.#inHand.size - this.#reserved;
  }

  stop(): void {
    this.#stopped = true;
    this.wake();
  }

  async run(): Promise<void> {
    while (!this.#stopped) {
      this.#woken = false;
      const free = this.#free();
      const rows = free > 0 ? await this.#take(free) : [];
      for (const row of rows) this.#start(row);
      // Every iteration awaits the database or a wake-up.
      if (rows.length < free || free <= 0) await this.#pause();
    }
    await Promise.all(this.#inHand.keys());
  }

  /** Returns 0 because one call renews all leases. */
  async extend(): Promise<number> {
    const { table, leaseMs } = this.#work;
    if (this.#inHand.size > 0) await extendLeases(this.#deps.db, table, { rows: [...this.#inHand.values()], leaseMs });
    return 0;
  }

  async #take(limit: number): Promise<readonly Row[]> {
    try {
      return await this.#work.take(limit, [...this.#inHand.values()]);
    } catch (error) {
      this.#troubled(error);
      return [];
    }
  }

  #start(row: Row): void {
    const work = this.#work
      .carryOut(row)
      .catch((error: unknown) => this.#troubled(error))
      .finally(() => {
        this.#inHand.delete(work);
        this.wake();
      });
    this.#inHand.set(work, row);
  }

  #troubled(error: unknown): void {
    this.#deps.logger.warn({ error: String(error) }, this.#work.trouble);
  }

  async #pause(): Promise<void> {
    if (this.#woken || this.#stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#work.pollMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
