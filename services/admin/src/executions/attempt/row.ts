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
import { taskPhaseOf } from "../projection/phase-name.js";
import { setTimes } from "../projection/common-columns.js";
import type { ExecutionName } from "../store/execution/state.js";
import { inferredEndError } from "../projection/inferred-end-error.js";
import { assembleClosure } from "./closure.js";

/** Columns from which the API's task execution is built. */
export interface TaskRow {
  id: bigint;
  execution_id: bigint;
  node_id: string;
  project: string;
  domain: string;
  name: string;
  version: string;
  retry_attempt: bigint;
  phase: string;
  first_ns: bigint;
  started_ns: bigint | null;
  updated_ns: bigint;
  ended_ns: bigint | null;
  duration: bigint;
  input_uri: string;
  settled: string | null;
}

export const taskColumns = [
  "id",
  "execution_id",
  "node_id",
  "project",
  "domain",
  "name",
  "version",
  "retry_attempt",
  "phase",
  "first_ns",
  "started_ns",
  "updated_ns",
  "ended_ns",
  "duration",
  "input_uri",
  "settled",
]
  .map((name) => `task_executions.${name}`)
  .join(", ");

/** Builds the API's task executions from rows and their histories. All rows belong to one execution. */
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

async function loadEvents(db: Queryable, rows: readonly TaskRow[]): Promise<Map<bigint, Uint8Array[]>> {
  const found = await db.query<{ task_execution_id: bigint; event: Uint8Array }>({
    name: "load-task-events",
    text: `SELECT task_execution_id, event FROM task_execution_events WHERE task_execution_id = ANY($1::bigint[])
      ORDER BY task_execution_id, event_order`,
    values: [rows.map(({ id }) => id)],
  });
  const events = new Map<bigint, Uint8Array[]>();
  for (const { task_execution_id: id, event } of found.rows) {
    const list = events.get(id);
    if (list === undefined) events.set(id, [event]);
    else list.push(event);
  }
  return events;
}

/** Loads the keys of attempts with child nodes. */
async function loadParents(db: Queryable, rows: readonly TaskRow[]): Promise<Set<string>> {
  const { rows: found } = await db.query<{ parent_task_key: string }>({
    name: "load-parent-tasks",
    text: "SELECT DISTINCT parent_task_key FROM node_executions WHERE execution_id = ANY($1::bigint[]) AND parent_task_key IS NOT NULL",
    values: [[...new Set(rows.map(({ execution_id: id }) => id))]],
  });
  return new Set(found.map(({ parent_task_key: key }) => key));
}
