import type { Queryable } from "@flyte-ts/postgres";
import { type TaskId, taskNotFound } from "../../execution/identifier.js";
import { taskColumns, type TaskRow } from "../../attempt/row.js";

export interface TaskValuesRow {
  inputs: Uint8Array | null;
  outputs: Uint8Array | null;
  output_uri: string;
}

/** @throws RpcError NOT_FOUND. */
export async function findTaskExecution(db: Queryable, id: TaskId): Promise<TaskRow & TaskValuesRow> {
  const { executionId, nodeId } = id.nodeExecutionId;
  const task = id.taskId;
  const { rows } = await db.query<TaskRow & TaskValuesRow>({
    name: "find-task-execution",
    // An attempt without inline inputs, but with the URI of its node's inputs, gets those of its node.
    text: `SELECT ${taskColumns}, task_executions.outputs, task_executions.output_uri,
        COALESCE(task_executions.inputs, CASE WHEN n.input_uri = task_executions.input_uri THEN n.inputs END) AS inputs
      FROM executions e JOIN task_executions ON task_executions.execution_id = e.id
        LEFT JOIN node_executions n ON n.execution_id = e.id AND n.node_id = task_executions.node_id
      WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3 AND task_executions.node_id = $4
        AND task_executions.retry_attempt = $5 AND task_executions.project = $6 AND task_executions.domain = $7
        AND task_executions.name = $8 AND task_executions.version = $9`,
    values: [
      executionId.project,
      executionId.domain,
      executionId.name,
      nodeId,
      id.retryAttempt,
      task.project,
      task.domain,
      task.name,
      task.version,
    ],
  });
  if (rows[0] === undefined) throw taskNotFound(id);
  return rows[0];
}
