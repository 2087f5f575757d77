import type { Queryable } from "@flyte-ts/postgres";
import type { ExecutionName } from "../../model/identifier.js";

/** An attempt of an array node. */
export interface ArrayAttempt {
  readonly id: bigint;
  readonly executionId: bigint;
  readonly number: number;
  /** Name of its TaskExecution.Phase. */
  readonly phase: string;
  /** Name of the node's NodeExecution.Phase. */
  readonly nodePhase: string;
  /** Creation of the execution, ms since the epoch. */
  readonly createdMs: number;
}

/** Finds an attempt of a node, or its latest; undefined without one. */
export async function findArrayAttempt(
  db: Queryable,
  { project, domain, name }: ExecutionName,
  { nodeId, attempt }: { readonly nodeId: string; readonly attempt: number | undefined },
): Promise<ArrayAttempt | undefined> {
  const { rows } = await db.query<{
    id: bigint;
    execution_id: bigint;
    retry_attempt: bigint;
    phase: string;
    node_phase: string;
    created_ms: bigint;
  }>({
    name: "find-array-attempt",
    text: `SELECT t.id, t.execution_id, t.retry_attempt, t.phase, n.phase AS node_phase, e.accepted_ns / 1000000 AS created_ms
      FROM executions e JOIN task_executions t ON t.execution_id = e.id
        JOIN node_executions n ON n.execution_id = e.id AND n.node_id = t.node_id
      WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3 AND t.node_id = $4
        AND ($5::bigint IS NULL OR t.retry_attempt = $5) ORDER BY t.retry_attempt DESC, t.id DESC LIMIT 1`,
    values: [project, domain, name, nodeId, attempt ?? null],
  });
  const [row] = rows;
  return (
    row && {
      id: row.id,
      executionId: row.execution_id,
      number: Number(row.retry_attempt),
      phase: row.phase,
      nodePhase: row.node_phase,
      createdMs: Number(row.created_ms),
    }
  );
}

/** An encoded event.TaskExecutionEvent and its position. */
export interface StoredEvent {
  readonly order: bigint;
  readonly event: Uint8Array;
}

/** Reads up to `limit` events of an attempt after a position, in order. */
export async function readEventsAfter(
  db: Queryable,
  attemptId: bigint,
  { after, limit }: { readonly after: bigint; readonly limit: number },
): Promise<readonly StoredEvent[]> {
  const { rows } = await db.query<{ event_order: bigint; event: Uint8Array }>({
    name: "attempt-events-after",
    text: `SELECT event_order, event FROM task_execution_events WHERE task_execution_id = $1 AND event_order > $2
      ORDER BY event_order LIMIT $3`,
    values: [attemptId, after, limit],
  });
  return rows.map(({ event_order: order, event }) => ({ order, event }));
}

/** Counts the events of an attempt. */
export async function countEvents(db: Queryable, attemptId: bigint): Promise<number> {
  const { rows } = await db.query<{ count: bigint }>({
    name: "count-attempt-events",
    text: "SELECT count(*) AS count FROM task_execution_events WHERE task_execution_id = $1",
    values: [attemptId],
  });
  return Number(rows[0]?.count ?? 0);
}
