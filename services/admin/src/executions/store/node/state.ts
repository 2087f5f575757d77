import { bigintArray, type Queryable, textArray } from "@flyte-ts/postgres";
import type { NodeState } from "@flyte-ts/execution-state";
import type { ColumnSpec } from "../multi-row-write.js";
import { upsert } from "../multi-row-write.js";
import { nodePhaseName, nodePhaseOf } from "../../model/phase-name.js";
import { type ProgressRow, progressColumns, selectProgress, storedProgress } from "../common-columns.js";

export interface NodeKey {
  readonly executionId: bigint;
  readonly nodeId: string;
}

export interface StoredNode {
  readonly state: NodeState;
  readonly revision: number;
}

export interface NodeWrite extends NodeKey {
  readonly state: NodeState;
  /** Revision that was read plus one; 1 for a new row. */
  readonly revision: number;
}

export const nodeKeyText = ({ executionId, nodeId }: NodeKey): string => `${executionId}/${nodeId}`;

interface Row extends ProgressRow {
  execution_id: bigint;
  node_id: string;
  revision: number;
  phase: string;
  deck_uri: string;
  dynamic_job_spec_uri: string;
  dynamic_workflow_uri: string;
  cache_status: string | null;
  target_order: bigint;
  parent_node_id: string | null;
  parent_task_key: string | null;
  retry_group: string;
  spec_node_id: string;
  event_version: number;
  is_parent: boolean;
  is_dynamic: boolean;
  is_array: boolean;
}

/** Loads the existing rows by nodeKeyText, without large columns. */
export async function loadNodes(db: Queryable, keys: readonly NodeKey[]): Promise<Map<string, StoredNode>> {
  const { rows } = await db.query<Row>({
    name: "load-nodes",
    text: `SELECT n.execution_id, n.node_id, n.revision, n.phase, ${selectProgress("n")}, n.deck_uri,
        n.dynamic_job_spec_uri, n.dynamic_workflow_uri, n.cache_status, n.target_order, n.parent_node_id, n.parent_task_key, n.retry_group,
        n.spec_node_id, n.event_version, n.is_parent, n.is_dynamic, n.is_array
      FROM unnest($1::bigint[], $2::text[]) AS key (execution_id, node_id)
      JOIN node_executions n ON n.execution_id = key.execution_id AND n.node_id = key.node_id`,
    values: [bigintArray(keys.map(({ executionId }) => executionId)), textArray(keys.map(({ nodeId }) => nodeId))],
  });
  return new Map(rows.map((row) => [nodeKeyText({ executionId: row.execution_id, nodeId: row.node_id }), stored(row)]));
}

function stored(row: Row): StoredNode {
  return {
    revision: row.revision,
    state: {
      phase: nodePhaseOf(row.phase),
      ...storedProgress(row),
      error: undefined,
      deckUri: row.deck_uri,
      target: undefined,
      targetSeq: row.target_order,
      cacheStatus: row.cache_status ?? undefined,
      dynamicJobSpecUri: row.dynamic_job_spec_uri,
      dynamicWorkflow: undefined,
      dynamicWorkflowUri: row.dynamic_workflow_uri,
      parentNodeId: row.parent_node_id ?? undefined,
      parentTaskKey: row.parent_task_key ?? undefined,
      retryGroup: row.retry_group,
      specNodeId: row.spec_node_id,
      eventVersion: row.event_version,
      isParent: row.is_parent,
      isDynamic: row.is_dynamic,
      isArray: row.is_array,
    },
  };
}

const columns: readonly ColumnSpec<NodeWrite>[] = [
  { name: "execution_id", type: "bigint", value: (row) => row.executionId, update: "key" },
  { name: "node_id", type: "text", value: (row) => row.nodeId, update: "key" },
  { name: "revision", type: "integer", value: (row) => row.revision, update: "set" },
  { name: "phase", type: "text", value: ({ state }) => nodePhaseName(state.phase), update: "set" },
  ...progressColumns,
  { name: "deck_uri", type: "text", value: ({ state }) => state.deckUri, update: "set" },
  { name: "dynamic_job_spec_uri", type: "text", value: ({ state }) => state.dynamicJobSpecUri, update: "set" },
  { name: "error", type: "bytea", value: ({ state }) => state.error?.bytes ?? null, update: "keep" },
  { name: "error_kind", type: "text", value: ({ state }) => state.error?.kind ?? null, update: "keep" },
  { name: "error_code", type: "text", value: ({ state }) => state.error?.code ?? null, update: "keep" },
  { name: "cache_status", type: "text", value: ({ state }) => state.cacheStatus ?? null, update: "set" },
  { name: "target", type: "bytea", value: ({ state }) => state.target?.bytes ?? null, update: "keep" },
  { name: "target_order", type: "bigint", value: ({ state }) => state.targetSeq, update: "set" },
  { name: "dynamic_workflow", type: "bytea", value: ({ state }) => state.dynamicWorkflow ?? null, update: "first" },
  { name: "dynamic_workflow_uri", type: "text", value: ({ state }) => state.dynamicWorkflowUri, update: "set" },
  { name: "parent_node_id", type: "text", value: ({ state }) => state.parentNodeId ?? null, update: "set" },
  { name: "parent_task_key", type: "text", value: ({ state }) => state.parentTaskKey ?? null, update: "set" },
  { name: "retry_group", type: "text", value: ({ state }) => state.retryGroup, update: "set" },
  { name: "spec_node_id", type: "text", value: ({ state }) => state.specNodeId, update: "set" },
  { name: "event_version", type: "integer", value: ({ state }) => state.eventVersion, update: "set" },
  { name: "is_parent", type: "boolean", value: ({ state }) => state.isParent, update: "set" },
  { name: "is_dynamic", type: "boolean", value: ({ state }) => state.isDynamic, update: "set" },
  { name: "is_array", type: "boolean", value: ({ state }) => state.isArray, update: "set" },
];

const write = upsert("node_executions", columns, "execution_id, node_id");

/**
 * Saves nodes; returns the keys (nodeKeyText) of the written rows. The others were changed
 * concurrently and must be read again.
 */
export async function saveNodes(db: Queryable, writes: readonly NodeWrite[]): Promise<Set<string>> {
  const ordered = writes.toSorted((a, b) => compare(a.executionId, b.executionId) || compare(a.nodeId, b.nodeId));
  const { rows } = await db.query<{ execution_id: bigint; node_id: string }>(write(ordered));
  return new Set(rows.map((row) => nodeKeyText({ executionId: row.execution_id, nodeId: row.node_id })));
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
