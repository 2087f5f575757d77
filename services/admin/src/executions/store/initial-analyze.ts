import { setTimeout as sleep } from "node:timers/promises";
import { type Database, type Queryable, taskFailures } from "@flyte-ts/postgres";
import type { Closeable } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";

/** Tables that grow quickly and have several indexes with the same leading columns. */
const TABLES = ["executions", "node_executions", "task_executions"];
/** Table size, bytes, from which the choice of the index matters. */
const BYTES = 64 * 1024;
const EVERY_MS = 1_000;

/**
 * Runs ANALYZE once each new table has rows. Until autovacuum does so after about a minute, the
 * planner rates every index on project and domain like the one that ends with the name, and scans
 * all rows of a project to find one. Stops when every table has statistics, at once on a used
 * database.
 */
export function startInitialAnalyze(db: Database, logger: Logger): Closeable {
  const closing = new AbortController();
  const failures = taskFailures(db, logger);
  const run = async () => {
    for (let pending = TABLES; pending.length > 0 && !closing.signal.aborted; ) {
      try {
        pending = await analyzeNewTables(db);
      } catch (error) {
        failures.failed({ task: "statistics of new tables", error, message: "ANALYZE of new tables failed; it is retried" });
      }
      if (pending.length > 0) await sleep(EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  };
  const running = run();
  return {
    close: async () => {
      closing.abort();
      await running;
    },
  };
}

/**
 * Runs ANALYZE on tables of sufficient size without statistics. Returns the tables that are still
 * too small.
 */
export async function analyzeNewTables(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string; filled: boolean }>({
    name: "find-tables-without-statistics",
    // reltuples: -1 before the first ANALYZE, 0 when the table was empty then.
    text: `SELECT relname AS name, pg_relation_size(oid) >= $2 AS filled FROM pg_class
      WHERE oid = ANY($1::text[]::regclass[]) AND reltuples <= 0`,
    values: [TABLES, BYTES],
  });
  const filled = rows.filter((row) => row.filled).map(({ name }) => name);
  if (filled.length > 0) await db.query({ text: `ANALYZE ${filled.join(", ")}` });
  return rows.filter((row) => !row.filled).map(({ name }) => name);
}
