import { create } from "@bufbuild/protobuf";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Database, Queryable } from "@flyte-ts/postgres";
import { type ExecutionName, watchedExecutionNotFound } from "../../model/identifier.js";
import { executionColumns, type ExecutionRow } from "../execution/find.js";
import { nodeColumns } from "../node/find.js";
import { taskColumns } from "../attempt/find.js";
import { executionRow, nodeRow, taskRow, type WatchedNodeRow, type WatchedTaskEvent, type WatchedTaskRow } from "./encode-row.js";
import { type ChangesOfAll, endedAt, type KnownState } from "./known-state.js";
import type { WatchedChanges, WatchedRow } from "./row.js";
import type { Snapshot } from "./snapshot.js";
import { changed, inSnapshot, snapshotXmax, xidOf } from "./changed-rows.js";

/**
 * Nodes or task attempts per statement: their encoding blocks the event loop for some milliseconds.
 */
const PAGE = 500;

export interface InitialState {
  readonly executionId: bigint;
  readonly snapshot: Snapshot;
  readonly changes: WatchedChanges;
}

/**
 * Reads the whole state of an execution in one snapshot.
 *
 * @throws RpcError NOT_FOUND.
 */
export function readWhole(db: Database, name: ExecutionName): Promise<InitialState> {
  const id = create(WorkflowExecutionIdentifierSchema, { project: name.project, domain: name.domain, name: name.name });
  return inSnapshot(db, async (tx, snapshot) => {
    const { rows: executions } = await tx.query<ExecutionRow & { xid: bigint }>({
      name: "watch-execution",
      text: `SELECT ${executionColumns}, ${xidOf("executions")} AS xid FROM executions, ${snapshotXmax}
        WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3`,
      values: [name.project, name.domain, name.name],
    });
    const [execution] = executions;
    if (execution === undefined) throw watchedExecutionNotFound(name);
    const rows: WatchedRow[] = [executionRow(execution)];
    for (let after: string | undefined = ""; after !== undefined; ) {
      const { rows: page }: { rows: WatchedNodeRow[] } = await tx.query<WatchedNodeRow>({
        name: "watch-nodes",
        text: `SELECT ${nodeColumns}, node_executions.id, node_executions.parent_node_id, ${xidOf("node_executions")} AS xid
          FROM node_executions, ${snapshotXmax} WHERE execution_id = $1 AND node_id > $2 ORDER BY node_id LIMIT ${PAGE}`,
        values: [execution.id, after],
      });
      for (const row of page) rows.push(nodeRow(row, id));
      after = page.length < PAGE ? undefined : page.at(-1)?.node_id;
    }
    const { rows: tasks } = await tx.query<{ id: bigint }>({
      name: "watch-task-ids",
      text: "SELECT id FROM task_executions WHERE execution_id = $1",
      values: [execution.id],
    });
    rows.push(
      ...(
        await readTasks(
          tx,
          tasks.map(({ id: taskId }) => taskId),
          new Map([[execution.id, id]]),
        )
      ).map(([, row]) => row),
    );
    return { executionId: execution.id, snapshot, changes: { rows, endedAt: endedAt(execution) } };
  });
}

/** Maximum delay between a terminal attempt's row and its events, which share a batch of ingest. */
const LATE_EVENTS_MS = 60_000;

/** Reads the changes of these executions since their snapshots, with three statements for all. */
export function readChanges(db: Database, all: readonly KnownState[]): Promise<ChangesOfAll<WatchedChanges>> {
  const given = `unnest($1::bigint[], $2::pg_snapshot[], $3::bigint[]) AS given (execution_id, since, since_xmin)`;
  const base = [
    all.map(({ executionId }) => executionId),
    all.map(({ snapshot }) => snapshot.text),
    all.map(({ snapshot }) => snapshot.xmin),
  ];
  const ids = new Map(all.map(({ executionId, id }) => [executionId, id]));
  return inSnapshot(db, async (tx, snapshot) => {
    const found = new Map<bigint, { rows: WatchedRow[]; endedAt: number | undefined } | "gone">(
      all.map(({ executionId }) => [executionId, "gone"]),
    );
    const { rows: executions } = await tx.query<ExecutionRow & { xid: bigint; changed: boolean }>({
      name: "watch-changed-executions",
      text: `SELECT ${executionColumns}, ${xidOf("executions")} AS xid, ${changed("executions")} AS changed
        FROM ${snapshotXmax}, ${given} JOIN executions ON executions.id = given.execution_id`,
      values: base,
    });
    for (const row of executions) {
      found.set(row.id, { rows: row.changed ? [executionRow(row)] : [], endedAt: row.changed ? endedAt(row) : undefined });
    }
    const add = (executionId: bigint, row: WatchedRow) => {
      const changes = found.get(executionId);
      if (changes !== undefined && changes !== "gone") changes.rows.push(row);
    };
    const { rows: nodes } = await tx.query<WatchedNodeRow & { execution_id: bigint }>({
      name: "watch-changed-nodes",
      text: `SELECT node_executions.execution_id, ${nodeColumns}, node_executions.id, node_executions.parent_node_id,
          ${xidOf("node_executions")} AS xid
        FROM ${snapshotXmax}, ${given} JOIN node_executions ON node_executions.execution_id = given.execution_id
        WHERE ${changed("node_executions")}`,
      values: base,
    });
    for (const row of nodes) {
      const id = ids.get(row.execution_id);
      if (id !== undefined) add(row.execution_id, nodeRow(row, id));
    }
    const { rows: tasks } = await tx.query<{ id: bigint }>({
      name: "watch-changed-tasks",
      text: `SELECT task_executions.id FROM ${snapshotXmax},
          unnest($1::bigint[], $2::pg_snapshot[], $3::bigint[], $4::timestamptz[]) AS given (execution_id, since, since_xmin, late)
          JOIN task_executions ON task_executions.execution_id = given.execution_id
        WHERE ${changed("task_executions")} OR (
          (task_executions.updated_at > given.late OR task_executions.phase NOT IN ('SUCCEEDED', 'FAILED', 'RETRYABLE_FAILED', 'ABORTED'))
          AND EXISTS (SELECT 1 FROM task_execution_events e WHERE e.task_execution_id = task_executions.id AND ${changed("e")}))`,
      values: [...base, all.map(({ readAt }) => new Date(readAt - LATE_EVENTS_MS))],
    });
    for (const [executionId, row] of await readTasks(
      tx,
      tasks.map(({ id }) => id),
      ids,
    ))
      add(executionId, row);
    return { snapshot, changes: found };
  });
}

async function readTasks(
  tx: Queryable,
  taskIds: readonly bigint[],
  executions: ReadonlyMap<bigint, WorkflowExecutionIdentifier>,
): Promise<(readonly [bigint, WatchedRow])[]> {
  const read: (readonly [bigint, WatchedRow])[] = [];
  for (let from = 0; from < taskIds.length; from += PAGE) {
    const values = [taskIds.slice(from, from + PAGE)];
    const { rows: tasks } = await tx.query<WatchedTaskRow>({
      name: "watch-tasks",
      text: `SELECT ${taskColumns}, ${xidOf("task_executions")} AS xid FROM task_executions, ${snapshotXmax} WHERE id = ANY($1::bigint[])`,
      values,
    });
    const { rows: events } = await tx.query<WatchedTaskEvent & { task_execution_id: bigint }>({
      name: "watch-task-events",
      text: `SELECT task_execution_id, event, ${xidOf("task_execution_events")} AS xid FROM task_execution_events, ${snapshotXmax}
        WHERE task_execution_id = ANY($1::bigint[]) ORDER BY task_execution_id, event_order`,
      values,
    });
    const byTask = Map.groupBy(events, ({ task_execution_id: id }) => id);
    for (const row of tasks) {
      const id = executions.get(row.execution_id);
      if (id !== undefined) read.push([row.execution_id, taskRow(row, id, byTask.get(row.id) ?? [])]);
    }
  }
  return read;
}
