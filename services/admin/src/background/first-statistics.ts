import { setTimeout as sleep } from "node:timers/promises";
import type { Queryable } from "@flyte-ts/postgres";
import type { Logger, Running } from "@flyte-ts/telemetry";

/** Tables that grow quickly and of which several indexes begin with the same columns. */
const TABLES = ["executions", "node_executions", "task_executions"];
/** Size from which it matters which index is taken. */
const BYTES = 64 * 1024;
const EVERY_MS = 1_000;

/**
 * Has the database look at what is in a table as soon as there is something. It does so by itself after a minute or so; until then it
 * takes every index that begins with project and domain for as good as the one that ends with the name, and reads through all rows
 * where it should look up one. Ends when every table has been looked at, which on a database that was in use is at once.
 */
export function startFirstStatistics(db: Queryable, logger: Logger): Running {
  const closing = new AbortController();
  const run = async () => {
    for (let waiting = TABLES; waiting.length > 0 && !closing.signal.aborted; ) {
      try {
        waiting = await gatherFirstStatistics(db);
      } catch (error) {
        logger.warn({ error: String(error) }, "statistics of new tables cannot be gathered now");
      }
      if (waiting.length > 0) await sleep(EVERY_MS, undefined, { signal: closing.signal }).catch(() => undefined);
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

/** Looks at tables that nobody has looked at and that are not as good as empty; gives those that are. */
export async function gatherFirstStatistics(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ name: string; filled: boolean }>({
    name: "find-tables-without-statistics",
    // Rows as of the last look: -1 before the first, 0 when the table was empty then.
    text: `SELECT relname AS name, pg_relation_size(oid) >= $2 AS filled FROM pg_class
      WHERE oid = ANY($1::text[]::regclass[]) AND reltuples <= 0`,
    values: [TABLES, BYTES],
  });
  const filled = rows.filter((row) => row.filled).map(({ name }) => name);
  if (filled.length > 0) await db.query({ text: `ANALYZE ${filled.join(", ")}` });
  return rows.filter((row) => !row.filled).map(({ name }) => name);
}
