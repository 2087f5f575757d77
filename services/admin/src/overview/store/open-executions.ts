import type { Queryable } from "@flyte-ts/postgres";
import type { Scope } from "./scope.js";

/** Open executions that one statement considers. */
const MAX_OPEN = 10_000;
const MAX_SIGNALS = 50;
const MAX_WAITS = 1_000;

/** Reads the partial index of open executions, so that its cost does not depend on ended ones. */
const open = (columns: string): string => `SELECT ${columns} FROM executions
  WHERE execution_project = $1 AND execution_domain = $2 AND phase NOT IN ('SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT') LIMIT ${MAX_OPEN}`;

/** Counts executions that have not ended; at most 10,000. */
export async function countOpen(db: Queryable, { project, domain }: Scope): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: "overview-count-open",
    text: `SELECT count(*)::int AS count FROM (${open("1")}) AS o`,
    values: [project, domain],
  });
  return rows[0]?.count ?? 0;
}

export interface WaitRow {
  execution_name: string;
  notice: string;
  notice_ns: bigint | null;
}

/** Finds open executions with a reason why they do not continue, the longest wait first. */
export async function findWaits(db: Queryable, { project, domain }: Scope): Promise<readonly WaitRow[]> {
  const { rows } = await db.query<WaitRow>({
    name: "overview-waits",
    text: `SELECT * FROM (${open("execution_name, notice, notice_ns")}) AS o
      WHERE notice <> '' ORDER BY notice_ns NULLS LAST, execution_name LIMIT ${MAX_WAITS}`,
    values: [project, domain],
  });
  return rows;
}

export interface PendingSignalRow {
  execution_name: string;
  workflow_name: string;
  signal_id: string;
  /** Encoded core.LiteralType. */
  type: Uint8Array;
  created_at: Date;
}

/** Finds signals without a value of open executions, oldest first. */
export async function findPendingSignals(db: Queryable, { project, domain }: Scope): Promise<readonly PendingSignalRow[]> {
  const { rows } = await db.query<PendingSignalRow>({
    name: "overview-pending-signals",
    // OFFSET 0 makes the statement look up the signals of each open execution by their key.
    text: `SELECT o.execution_name, o.workflow_name, s.signal_id, s.type, s.created_at
      FROM (${open("execution_name, workflow_name")}) AS o
      CROSS JOIN LATERAL (SELECT signal_id, type, created_at FROM signals
        WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = o.execution_name AND value IS NULL
        LIMIT ${MAX_SIGNALS} OFFSET 0) AS s
      ORDER BY s.created_at, o.execution_name, s.signal_id LIMIT ${MAX_SIGNALS}`,
    values: [project, domain],
  });
  return rows;
}
