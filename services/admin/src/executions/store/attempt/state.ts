import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { bigintArray, byteaArray, type Queryable, textArray } from "@flyte-ts/postgres";
import type { TaskState } from "@flyte-ts/execution-state";
import type { ColumnSpec } from "../multi-row-write.js";
import { upsert } from "../multi-row-write.js";
import { taskPhaseName, taskPhaseOf } from "../../model/phase-name.js";
import { type ProgressRow, progressColumns, selectProgress, storedProgress } from "../common-columns.js";

export interface TaskKey {
  readonly executionId: bigint;
  readonly nodeId: string;
  readonly task: Pick<Identifier, "project" | "domain" | "name" | "version">;
  readonly retryAttempt: number;
}

export interface StoredTask {
  readonly rowId: bigint;
  readonly state: TaskState;
  readonly revision: number;
}

export interface TaskWrite extends TaskKey {
  readonly state: TaskState;
  /** Revision that was read plus one; 1 for a new row. */
  readonly revision: number;
}

export interface TaskEventWrite {
  readonly rowId: bigint;
  readonly order: bigint;
  readonly event: Uint8Array;
}

export const taskKeyText = ({ executionId, nodeId, task, retryAttempt }: TaskKey): string =>
  [executionId, nodeId, task.project, task.domain, task.name, task.version, retryAttempt].join("\n");

interface Row extends ProgressRow {
  place: bigint;
  has_node: boolean;
  id: bigint | null;
  revision: number;
  phase: string;
  phase_version: bigint;
}

/**
 * Returns for each key, in order: the row, undefined without one, or `no-node` when its node has no
 * row either.
 */
export async function loadTasks(db: Queryable, keys: readonly TaskKey[]): Promise<readonly (StoredTask | "no-node" | undefined)[]> {
  const { rows } = await db.query<Row>({
    name: "load-tasks",
    text: `SELECT key.place, n.node_id IS NOT NULL AS has_node, t.id, t.revision, t.phase, t.phase_version,
        ${selectProgress("t")}
      FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[])
        WITH ORDINALITY AS key (execution_id, node_id, project, domain, name, version, retry_attempt, place)
      LEFT JOIN node_executions n ON n.execution_id = key.execution_id AND n.node_id = key.node_id
      LEFT JOIN task_executions t ON t.execution_id = key.execution_id AND t.node_id = key.node_id
        AND t.retry_attempt = key.retry_attempt AND t.name = key.name AND t.version = key.version
        AND t.project = key.project AND t.domain = key.domain`,
    values: [
      bigintArray(keys.map((key) => key.executionId)),
      textArray(keys.map((key) => key.nodeId)),
      textArray(keys.map((key) => key.task.project)),
      textArray(keys.map((key) => key.task.domain)),
      textArray(keys.map((key) => key.task.name)),
      textArray(keys.map((key) => key.task.version)),
      bigintArray(keys.map((key) => key.retryAttempt)),
    ],
  });
  const found: (StoredTask | "no-node" | undefined)[] = keys.map(() => undefined);
  for (const row of rows) {
    found[Number(row.place) - 1] = row.has_node ? (row.id === null ? undefined : stored(row, row.id)) : "no-node";
  }
  return found;
}

function stored(row: Row, rowId: bigint): StoredTask {
  return {
    rowId,
    revision: row.revision,
    state: {
      phase: taskPhaseOf(row.phase),
      phaseVersion: Number(row.phase_version),
      ...storedProgress(row),
    },
  };
}

const columns: readonly ColumnSpec<TaskWrite>[] = [
  { name: "execution_id", type: "bigint", value: (row) => row.executionId, update: "key" },
  { name: "node_id", type: "text", value: (row) => row.nodeId, update: "key" },
  { name: "retry_attempt", type: "bigint", value: (row) => row.retryAttempt, update: "key" },
  { name: "name", type: "text", value: ({ task }) => task.name, update: "key" },
  { name: "version", type: "text", value: ({ task }) => task.version, update: "key" },
  { name: "project", type: "text", value: ({ task }) => task.project, update: "key" },
  { name: "domain", type: "text", value: ({ task }) => task.domain, update: "key" },
  { name: "revision", type: "integer", value: (row) => row.revision, update: "set" },
  { name: "phase", type: "text", value: ({ state }) => taskPhaseName(state.phase), update: "set" },
  { name: "phase_version", type: "bigint", value: ({ state }) => state.phaseVersion, update: "set" },
  ...progressColumns,
];

const write = upsert("task_executions", columns, "id, execution_id, node_id, project, domain, name, version, retry_attempt");

interface Written {
  id: bigint;
  execution_id: bigint;
  node_id: string;
  project: string;
  domain: string;
  name: string;
  version: string;
  retry_attempt: bigint;
}

/**
 * Saves attempts; returns the ids of the written rows by taskKeyText. The others were changed
 * concurrently and must be read again.
 */
export async function saveTasks(db: Queryable, writes: readonly TaskWrite[]): Promise<Map<string, bigint>> {
  const keyed = writes.map((row) => ({ row, key: taskKeyText(row) }));
  const ordered = keyed.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ row }) => row);
  const { rows } = await db.query<Written>(write(ordered));
  return new Map(
    rows.map((row) => [
      taskKeyText({ executionId: row.execution_id, nodeId: row.node_id, task: row, retryAttempt: Number(row.retry_attempt) }),
      row.id,
    ]),
  );
}

/** Appends events to the history of their attempts; existing ones stay unchanged. */
export async function appendTaskEvents(db: Queryable, events: readonly TaskEventWrite[]): Promise<void> {
  if (events.length === 0) return;
  await db.query({
    name: "append-task-events",
    text: `INSERT INTO task_execution_events (task_execution_id, event_order, event)
      SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[]) ORDER BY 1, 2 ON CONFLICT DO NOTHING`,
    values: [
      bigintArray(events.map(({ rowId }) => rowId)),
      bigintArray(events.map(({ order }) => order)),
      byteaArray(events.map(({ event }) => event)),
    ],
  });
}
