import { create, fromBinary } from "@bufbuild/protobuf";
import {
  ReasonSchema,
  type TaskExecution,
  type TaskExecutionClosure,
  TaskExecutionSchema,
} from "@flyte-ts/idl/flyteidl/admin/task_execution_pb";
import {
  IdentifierSchema,
  NodeExecutionIdentifierSchema,
  ResourceType,
  TaskExecutionIdentifierSchema,
} from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { taskKey } from "@flyte-ts/execution-state";
import { taskPhaseOf } from "../model/phase-name.js";
import { setTimes } from "../store/common-columns.js";
import type { ExecutionName } from "../model/identifier.js";
import { inferredEndError } from "../model/inferred-end-error.js";
import { assembleClosure } from "./closure.js";
import { loadEvents, loadParents, type TaskRow } from "../store/attempt/find.js";

/**
 * Builds the API's task executions from rows and their histories. All rows belong to one execution.
 */
export async function taskExecutionsOf(db: Queryable, executionId: ExecutionName, rows: readonly TaskRow[]): Promise<TaskExecution[]> {
  if (rows.length === 0) return [];
  const [events, parents] = await Promise.all([loadEvents(db, rows), loadParents(db, rows)]);
  return rows.map((row) => {
    const execution = taskExecutionOf(row, { executionId, events: events.get(row.id) ?? [], isParent: false });
    if (execution.id !== undefined) execution.isParent = parents.has(taskKey(execution.id));
    return execution;
  });
}

export interface TaskHistory {
  readonly executionId: ExecutionName;
  /** Encoded event.TaskExecutionEvent, in order. */
  readonly events: readonly Uint8Array[];
  /** True when the attempt has child nodes. */
  readonly isParent: boolean;
}

/** Builds the API's task execution from one row and its history. */
export function taskExecutionOf(row: TaskRow, { executionId, events, isParent }: TaskHistory): TaskExecution {
  const execution = { project: executionId.project, domain: executionId.domain, name: executionId.name };
  const nodeExecutionId = create(NodeExecutionIdentifierSchema, { nodeId: row.node_id, executionId: execution });
  const { project, domain, name, version } = row;
  const taskId = create(IdentifierSchema, { resourceType: ResourceType.TASK, project, domain, name, version });
  const id = create(TaskExecutionIdentifierSchema, { taskId, nodeExecutionId, retryAttempt: Number(row.retry_attempt) });
  const closure = assembleClosure(events.map((event) => fromBinary(TaskExecutionEventSchema, event)));
  return create(TaskExecutionSchema, { id, inputUri: row.input_uri, closure: withRow(closure, row), isParent });
}

function withRow(closure: TaskExecutionClosure, row: TaskRow): TaskExecutionClosure {
  closure.phase = taskPhaseOf(row.phase);
  setTimes(closure, row);
  if (row.settled !== null) addInferredEnd(closure, row.settled);
  return closure;
}

function addInferredEnd(closure: TaskExecutionClosure, reason: string): void {
  const { updatedAt } = closure;
  closure.reasons.push(create(ReasonSchema, { message: reason, ...(updatedAt && { occurredAt: updatedAt }) }));
  closure.reason = reason;
  if (closure.phase !== TaskExecution_Phase.SUCCEEDED && closure.outputResult.case !== "error")
    closure.outputResult = { case: "error", value: inferredEndError(reason) };
}
