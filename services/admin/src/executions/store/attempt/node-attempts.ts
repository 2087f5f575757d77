import type { Queryable } from "@flyte-ts/postgres";
import { eventsById, taskColumns, type TaskRow } from "./find.js";

/** Finds the last attempts of a node, in the order of their numbers. */
export async function findNodeAttempts(
  db: Queryable,
  { executionId, nodeId, limit }: { readonly executionId: bigint; readonly nodeId: string; readonly limit: number },
): Promise<{ readonly attempts: readonly TaskRow[]; readonly isArray: boolean }> {
  const { rows } = await db.query<TaskRow & { is_array: boolean | null }>({
    name: "find-node-attempts",
    text: `SELECT ${taskColumns}, n.is_array FROM task_executions
        LEFT JOIN node_executions n ON n.execution_id = task_executions.execution_id AND n.node_id = task_executions.node_id
      WHERE task_executions.execution_id = $1 AND task_executions.node_id = $2
      ORDER BY task_executions.retry_attempt DESC, task_executions.id DESC LIMIT $3`,
    values: [executionId, nodeId, limit],
  });
  return { attempts: rows.toReversed(), isArray: rows[0]?.is_array === true };
}

/** Loads the first and the last event of each attempt. */
export async function loadOuterEvents(db: Queryable, rows: readonly TaskRow[]): Promise<Map<bigint, Uint8Array[]>> {
  const edge = (order: "ASC" | "DESC"): string =>
    `(SELECT event_order, event FROM task_execution_events WHERE task_execution_id = given.id ORDER BY event_order ${order} LIMIT 1)`;
  const found = await db.query<{ task_execution_id: bigint; event: Uint8Array }>({
    name: "load-outer-task-events",
    text: `SELECT given.id AS task_execution_id, outer_events.event FROM unnest($1::bigint[]) AS given (id),
        LATERAL (${edge("ASC")} UNION ${edge("DESC")}) AS outer_events
      ORDER BY given.id, outer_events.event_order`,
    values: [rows.map(({ id }) => id)],
  });
  return eventsById(found.rows);
}
