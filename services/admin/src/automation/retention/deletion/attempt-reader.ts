import { Batcher } from "@flyte-ts/async";
import type { Queryable } from "@flyte-ts/postgres";
import { attemptQueries } from "../../../executions/index.js";
import { attemptCacheInfo } from "../tree/cache-references.js";
import type { Attempt } from "./storage-paths.js";

/** Attempts of an execution whose events are read in one query. */
const PAGE = 200;
/** Executions of one query. */
const EXECUTIONS = 32;

type AttemptOfExecution = Omit<Attempt, "execution"> & { readonly id: bigint };

/** Reads attempts of concurrent deletions in common queries. */
export class AttemptReader {
  readonly #batcher: Batcher<attemptQueries.AttemptCursor, readonly AttemptOfExecution[]>;

  constructor(db: Queryable) {
    this.#batcher = new Batcher({ maxWeight: EXECUTIONS, run: (cursors) => readPages(db, cursors) });
  }

  /** Reads the attempts of an execution in order, with the items of arrays. */
  async *of(executionId: bigint): AsyncGenerator<AttemptOfExecution> {
    let after = 0n;
    for (;;) {
      const page = await this.#batcher.process({ executionId, after });
      yield* page;
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last.id;
    }
  }
}

async function readPages(
  db: Queryable,
  cursors: readonly attemptQueries.AttemptCursor[],
): Promise<readonly (readonly AttemptOfExecution[])[]> {
  const rows = await attemptQueries.listAttemptsAfter(db, cursors, PAGE);
  const infos = await attemptCacheInfo(
    db,
    rows.map(({ id }) => id),
  );
  const pages = Map.groupBy(rows, (row) => row.execution_id);
  return cursors.map(({ executionId }) =>
    (pages.get(executionId) ?? []).map((row) => ({
      id: row.id,
      nodeId: row.node_id,
      attempt: Number(row.retry_attempt),
      items: infos.get(row.id)?.items ?? [],
    })),
  );
}
