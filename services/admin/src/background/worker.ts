import type { Queryable } from "@flyte-ts/postgres";
import { type Logger, type Running, startRounds } from "@flyte-ts/telemetry";
import { extendLeases, type TakenRow, type WorkTable } from "./lease.js";

export interface WorkerDeps {
  readonly db: Queryable;
  readonly logger: Logger;
}

/** Rows that are work, and what is done with them. */
export interface Work<Row extends TakenRow> {
  readonly table: WorkTable;
  /** After so long without a word from whoever took a row, others take it. While it is worked on its lease is extended. */
  readonly leaseMs: number;
  /** Most rows that are worked on at once. */
  readonly inFlight: number;
  /** How long a row that nobody was told of may lie. */
  readonly pollMs: number;
  /** Takes up to `limit` rows that are due. `inHand` is what is being worked on. */
  readonly take: (limit: number, inHand: readonly Row[]) => Promise<readonly Row[]>;
  /** Does the work and records what became of it. Should it fail, the lease ends by itself. */
  readonly carryOut: (row: Row) => Promise<void>;
  /** For the log, when nothing can be taken or recorded. */
  readonly trouble: string;
}

export interface Worker<Row extends TakenRow> extends Running {
  /** Looks for work now. */
  wake(): void;
  /**
   * Keeps a place for a row that the caller is about to write as taken; undefined where there is none. A look for work that is under
   * way may fill the same place: then there is one more at once, for that time.
   */
  reserve(): Place<Row> | undefined;
}

/** A place for one row among those that are worked on at once. Exactly one of both is to be called. */
export interface Place<Row extends TakenRow> {
  /** Works on the row, which is stored and whose lease is this process's. */
  begin(row: Row): void;
  /** There is no row. */
  release(): void;
}

/** Takes rows that are due and works on them until it is closed. Any number of replicas share the work. */
export function startWorker<Row extends TakenRow>(deps: WorkerDeps, work: Work<Row>): Worker<Row> {
  const loop = new WorkLoop(deps, work);
  const running = loop.run();
  const extending = startRounds(
    { everyMs: work.leaseMs / 3, batch: 1, work: () => loop.extend(), trouble: `${work.trouble}: leases cannot be extended` },
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
        // Should it have been stopped meanwhile, the lease ends by itself.
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
      // Every turn waits for something: the database or a reason to go on.
      if (rows.length < free || free <= 0) await this.#pause();
    }
    await Promise.all(this.#inHand.keys());
  }

  /** Gives 0: there is nothing that it leaves for another call. */
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
