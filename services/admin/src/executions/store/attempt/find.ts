import { bigintArray, type Queryable } from "@flyte-ts/postgres";
import { type ExecutionName, type TaskId, taskNotFound } from "../../model/identifier.js";

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
    // An attempt without inline inputs, but with the URI of its node's inputs, gets those of its
    // node.
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

/** Finds the task that an attempt of a node ran; undefined without one. */
export async function findTaskOfAttempt(
  db: Queryable,
  { project, domain, name }: ExecutionName,
  { nodeId, attempt }: { readonly nodeId: string; readonly attempt: number | undefined },
): Promise<{ readonly project: string; readonly domain: string; readonly name: string; readonly version: string } | undefined> {
  const { rows } = await db.query<{ project: string; domain: string; name: string; version: string }>({
    name: "find-task-of-attempt",
    text: `SELECT t.project, t.domain, t.name, t.version FROM executions e JOIN task_executions t ON t.execution_id = e.id
      WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3 AND t.node_id = $4 AND t.retry_attempt = $5
      ORDER BY t.id LIMIT 1`,
    values: [project, domain, name, nodeId, attempt],
  });
  return rows[0];
}

/** Position in an iteration over the attempts of an execution. */
export interface AttemptCursor {
  readonly executionId: bigint;
  readonly after: bigint;
}

/** Lists attempts of executions in order of their row ids, up to a limit for each execution. */
export async function listAttemptsAfter(
  db: Queryable,
  cursors: readonly AttemptCursor[],
  limit: number,
): Promise<readonly { readonly id: bigint; readonly execution_id: bigint; readonly node_id: string; readonly retry_attempt: bigint }[]> {
  const { rows } = await db.query<{ id: bigint; execution_id: bigint; node_id: string; retry_attempt: bigint }>({
    name: "attempts-for-retention",
    text: `SELECT t.* FROM unnest($1::bigint[], $2::bigint[]) AS c(execution_id, after),
        LATERAL (SELECT id, execution_id, node_id, retry_attempt FROM task_executions
          WHERE execution_id = c.execution_id AND id > c.after ORDER BY id LIMIT $3) AS t`,
    values: [bigintArray(cursors.map(({ executionId }) => executionId)), bigintArray(cursors.map(({ after }) => after)), limit],
  });
  return rows;
}

/** Reads the encoded events of several attempts. */
export async function loadEventsOfAttempts(
  db: Queryable,
  attemptIds: readonly bigint[],
): Promise<readonly { readonly id: bigint; readonly event: Uint8Array }[]> {
  const { rows } = await db.query<{ id: bigint; event: Uint8Array }>({
    name: "attempt-events-for-retention",
    text: "SELECT task_execution_id AS id, event FROM task_execution_events WHERE task_execution_id = ANY($1::bigint[])",
    values: [bigintArray(attemptIds)],
  });
  return rows;
}

/** Finds the attempts of array nodes of these executions. */
export async function findArrayAttempts(
  db: Queryable,
  executionIds: readonly bigint[],
): Promise<readonly { readonly id: bigint; readonly execution_id: bigint }[]> {
  const { rows } = await db.query<{ id: bigint; execution_id: bigint }>({
    name: "array-attempts-of-executions",
    text: `SELECT t.id, t.execution_id FROM task_executions t JOIN node_executions n ON n.execution_id = t.execution_id AND n.node_id = t.node_id
      WHERE t.execution_id = ANY($1::bigint[]) AND n.is_array`,
    values: [executionIds],
  });
  return rows;
}

/** Finds an attempt of a node, or its latest; undefined without one. */
export async function findLoggedAttempt(
  db: Queryable,
  { project, domain, name }: ExecutionName,
  { nodeId, attempt }: { readonly nodeId: string; readonly attempt: number | undefined },
): Promise<{ readonly id: bigint; readonly cluster: string; readonly retry_attempt: bigint; readonly phase: string } | undefined> {
  const { rows } = await db.query<{ id: bigint; cluster: string; retry_attempt: bigint; phase: string }>({
    name: "find-logged-attempt",
    text: `SELECT t.id, e.cluster, t.retry_attempt, t.phase FROM executions e JOIN task_executions t ON t.execution_id = e.id
      WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3 AND t.node_id = $4
        AND ($5::bigint IS NULL OR t.retry_attempt = $5) ORDER BY t.retry_attempt DESC, t.id DESC LIMIT 1`,
    values: [project, domain, name, nodeId, attempt ?? null],
  });
  return rows[0];
}

/** Lists the numbers of a node's attempts in order. */
export async function listAttemptNumbers(db: Queryable, { project, domain, name }: ExecutionName, nodeId: string): Promise<number[]> {
  const { rows } = await db.query<{ retry_attempt: bigint }>({
    name: "list-attempt-numbers",
    text: `SELECT DISTINCT t.retry_attempt FROM executions e JOIN task_executions t ON t.execution_id = e.id
      WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3 AND t.node_id = $4 ORDER BY 1`,
    values: [project, domain, name, nodeId],
  });
  return rows.map(({ retry_attempt: number }) => Number(number));
}

/** Reads the encoded events of an attempt in order. */
export async function loadAttemptEvents(db: Queryable, attemptId: bigint): Promise<readonly Uint8Array[]> {
  const { rows } = await db.query<{ event: Uint8Array }>({
    name: "find-logged-attempt-events",
    text: "SELECT event FROM task_execution_events WHERE task_execution_id = $1 ORDER BY event_order",
    values: [attemptId],
  });
  return rows.map(({ event }) => event);
}

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

export async function loadEvents(db: Queryable, rows: readonly TaskRow[]): Promise<Map<bigint, Uint8Array[]>> {
  const found = await db.query<{ task_execution_id: bigint; event: Uint8Array }>({
    name: "load-task-events",
    text: `SELECT task_execution_id, event FROM task_execution_events WHERE task_execution_id = ANY($1::bigint[])
      ORDER BY task_execution_id, event_order`,
    values: [rows.map(({ id }) => id)],
  });
  return eventsById(found.rows);
}

/** Groups encoded events by their attempts. */
export function eventsById(rows: readonly { readonly task_execution_id: bigint; readonly event: Uint8Array }[]): Map<bigint, Uint8Array[]> {
  const events = new Map<bigint, Uint8Array[]>();
  for (const { task_execution_id: id, event } of rows) {
    const list = events.get(id);
    if (list === undefined) events.set(id, [event]);
    else list.push(event);
  }
  return events;
}

/** Loads the keys of attempts with child nodes. */
export async function loadParents(db: Queryable, rows: readonly TaskRow[]): Promise<Set<string>> {
  const { rows: found } = await db.query<{ parent_task_key: string }>({
    name: "load-parent-tasks",
    text: "SELECT DISTINCT parent_task_key FROM node_executions WHERE execution_id = ANY($1::bigint[]) AND parent_task_key IS NOT NULL",
    values: [[...new Set(rows.map(({ execution_id: id }) => id))]],
  });
  return new Set(found.map(({ parent_task_key: key }) => key));
}
