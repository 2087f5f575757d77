import type { Queryable } from "@flyte-ts/postgres";
import { type ExecutionName } from "../model/identifier.js";

/** Rows per DELETE statement. */
const ROWS = 5_000;

/** Deletes the nodes and attempts of an execution, and the events of attempts, in batches. */
export async function deleteChildRows(db: Queryable, executionId: bigint): Promise<void> {
  const statements = [
    `DELETE FROM task_execution_events WHERE (task_execution_id, event_order) IN (SELECT v.task_execution_id, v.event_order
      FROM task_executions t JOIN task_execution_events v ON v.task_execution_id = t.id WHERE t.execution_id = $1 LIMIT ${ROWS})`,
    `DELETE FROM task_executions WHERE id IN (SELECT id FROM task_executions WHERE execution_id = $1 LIMIT ${ROWS})`,
    `DELETE FROM node_executions WHERE id IN (SELECT id FROM node_executions WHERE execution_id = $1 LIMIT ${ROWS})`,
  ];
  for (const text of statements) {
    while ((await db.query({ text, values: [executionId] })).rowCount === ROWS);
  }
}

/**
 * Deletes an execution, its signals, and child rows that were added since. Returns false when it
 * does not exist.
 */
export async function deleteExecutionRows(
  tx: Queryable,
  { id, project, domain, name }: ExecutionName & { readonly id: bigint },
): Promise<boolean> {
  await tx.query({
    text: "DELETE FROM signals WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3",
    values: [project, domain, name],
  });
  await tx.query({
    text: "DELETE FROM task_execution_events WHERE task_execution_id IN (SELECT id FROM task_executions WHERE execution_id = $1)",
    values: [id],
  });
  await tx.query({ text: "DELETE FROM task_executions WHERE execution_id = $1", values: [id] });
  await tx.query({ text: "DELETE FROM node_executions WHERE execution_id = $1", values: [id] });
  return (await tx.query({ text: "DELETE FROM executions WHERE id = $1", values: [id] })).rowCount > 0;
}
