import { BatchQueue } from "@flyte-ts/async";
import type { Queryable } from "@flyte-ts/postgres";
import { attemptQueries } from "../../../executions/index.js";
import { attemptFacts } from "../tree/cache-references.js";
import type { Attempt } from "./storage-paths.js";

/** Attempts of an execution whose events are read in one query. */
const PAGE = 200;
/** Executions of one query. */
const EXECUTIONS = 32;

interface AttemptOfExecution extends Omit<Attempt, "execution"> {
  readonly id: bigint;
  readonly plugins: ReadonlySet<string>;
}

/** Reads attempts of concurrent deletions in common queries. */
export class AttemptReader {
  readonly #pages: BatchQueue<attemptQueries.AttemptCursor, readonly AttemptOfExecution[]>;

  /** @param withoutRawOutputs identifiers of plugins whose attempts write no raw outputs */
  constructor(
    db: Queryable,
    private readonly withoutRawOutputs: ReadonlySet<string>,
  ) {
    this.#pages = new BatchQueue({ maxItems: EXECUTIONS, isItemError: () => true, process: (cursors) => readPages(db, cursors) });
  }

  /**
   * Reads the attempts of an execution that may have written raw outputs, with the items of arrays.
   */
  async *of(executionId: bigint): AsyncGenerator<AttemptOfExecution> {
    let after = 0n;
    for (;;) {
      const page = await this.#pages.run({ executionId, after });
      yield* page.filter((attempt) => this.#mayHaveRawOutputs(attempt));
      const last = page.at(-1);
      if (last === undefined || page.length < PAGE) return;
      after = last.id;
    }
  }

  /** An attempt without an event, or with an unknown plugin, may have written any. */
  #mayHaveRawOutputs({ plugins }: AttemptOfExecution): boolean {
    return plugins.size === 0 || [...plugins].some((plugin) => !this.withoutRawOutputs.has(plugin));
  }
}

async function readPages(
  db: Queryable,
  cursors: readonly attemptQueries.AttemptCursor[],
): Promise<readonly (readonly AttemptOfExecution[])[]> {
  const rows = await attemptQueries.listAttemptsAfter(db, cursors, PAGE);
  const facts = await attemptFacts(
    db,
    rows.map(({ id }) => id),
  );
  const pages = Map.groupBy(rows, (row) => row.execution_id);
  return cursors.map(({ executionId }) =>
    (pages.get(executionId) ?? []).map((row) => ({
      id: row.id,
      nodeId: row.node_id,
      attempt: Number(row.retry_attempt),
      plugins: facts.get(row.id)?.plugins ?? new Set(),
      items: facts.get(row.id)?.items ?? [],
    })),
  );
}
