import type { TaskExecution } from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { findExecutionId } from "../store/execution/find.js";
import { executionNotFound, type NodeId } from "../model/identifier.js";
import { loadEvents } from "../store/attempt/find.js";
import { findNodeAttempts, loadOuterEvents } from "../store/attempt/node-attempts.js";
import { taskExecutionOf } from "./row.js";

/** Maximum of attempts; tasks are seldom retried more often than ten times. */
const MAX_ATTEMPTS = 100;

/**
 * Lists the last attempts of a node's task in the order of their numbers. For array nodes it reads
 * only the first and the last event of each attempt: all others report items alone.
 *
 * @throws RpcError NOT_FOUND for an unknown execution.
 */
export async function listNodeAttempts(db: Queryable, { executionId, nodeId }: NodeId): Promise<TaskExecution[]> {
  const rowId = await findExecutionId(db, executionId);
  if (rowId === undefined) throw executionNotFound(executionId);
  const { attempts, isArray } = await findNodeAttempts(db, { executionId: rowId, nodeId, limit: MAX_ATTEMPTS });
  const events = await (isArray ? loadOuterEvents : loadEvents)(db, attempts);
  return attempts.map((row) => {
    const attempt = taskExecutionOf(row, { executionId, events: events.get(row.id) ?? [], isParent: false });
    if (isArray && attempt.closure?.metadata !== undefined) attempt.closure.metadata.externalResources = [];
    return attempt;
  });
}
