import type { Queryable } from "@flyte-ts/postgres";
import { type NodeId, nodeNotFound } from "../../model/identifier.js";

export interface NodeValuesRow {
  inputs: Uint8Array | null;
  outputs: Uint8Array | null;
  dynamic_workflow: Uint8Array | null;
  dynamic_workflow_uri: string;
}

const from = `FROM executions e JOIN node_executions ON node_executions.execution_id = e.id
  WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3 AND node_executions.node_id = $4`;
const values = ({ executionId: { project, domain, name }, nodeId }: NodeId) => [project, domain, name, nodeId];

/**
 * Finds a node for the API: a node with children counts as a parent. @throws RpcError NOT_FOUND.
 */
export async function findNode(db: Queryable, id: NodeId): Promise<NodeRow> {
  const { rows } = await db.query<NodeRow>({ name: "find-node", text: `SELECT ${listedNodeColumns} ${from}`, values: values(id) });
  if (rows[0] === undefined) throw nodeNotFound(id);
  return rows[0];
}

/** Finds the row with its values. @throws RpcError NOT_FOUND. */
export async function findNodeWithValues(db: Queryable, id: NodeId): Promise<NodeRow & NodeValuesRow> {
  const { rows } = await db.query<NodeRow & NodeValuesRow>({
    name: "find-node-with-values",
    text: `SELECT ${nodeColumns}, node_executions.inputs, node_executions.outputs, node_executions.dynamic_workflow,
      node_executions.dynamic_workflow_uri ${from}`,
    values: values(id),
  });
  if (rows[0] === undefined) throw nodeNotFound(id);
  return rows[0];
}

/** Filters executions to those with a node of this cache status. */
export async function executionsWithCacheStatus(
  db: Queryable,
  executionIds: readonly bigint[],
  status: string | undefined,
): Promise<readonly bigint[]> {
  const { rows } = await db.query<{ execution_id: bigint }>({
    name: "executions-in-cache",
    text: "SELECT DISTINCT execution_id FROM node_executions WHERE execution_id = ANY($1::bigint[]) AND cache_status = $2",
    values: [executionIds, status],
  });
  return rows.map((row) => row.execution_id);
}

/** Columns from which the API's node execution is built. */
export interface NodeRow {
  node_id: string;
  retry_group: string;
  spec_node_id: string;
  is_parent: boolean;
  is_dynamic: boolean;
  is_array: boolean;
  phase: string;
  first_ns: bigint;
  started_ns: bigint | null;
  updated_ns: bigint;
  ended_ns: bigint | null;
  duration: bigint;
  input_uri: string;
  output_uri: string;
  deck_uri: string;
  dynamic_job_spec_uri: string;
  error: Uint8Array | null;
  settled: string | null;
  target: Uint8Array | null;
}

export const nodeColumns = [
  "node_id",
  "retry_group",
  "spec_node_id",
  "is_parent",
  "is_dynamic",
  "is_array",
  "phase",
  "first_ns",
  "started_ns",
  "updated_ns",
  "ended_ns",
  "duration",
  "input_uri",
  "output_uri",
  "deck_uri",
  "dynamic_job_spec_uri",
  "error",
  "settled",
  "target",
]
  .map((name) => `node_executions.${name}`)
  .join(", ");

/**
 * Columns for the API: a node with children counts as a parent, so that clients list them (events
 * of branches do not report it).
 */
export const listedNodeColumns = nodeColumns.replace(
  "node_executions.is_parent",
  `(node_executions.is_parent OR EXISTS (SELECT 1 FROM node_executions child
    WHERE child.execution_id = node_executions.execution_id AND child.parent_node_id = node_executions.node_id)) AS is_parent`,
);

export async function requireNode(db: Queryable, rowId: bigint | undefined, id: Parameters<typeof nodeNotFound>[0]): Promise<void> {
  if (rowId === undefined) throw nodeNotFound(id);
  const { rowCount } = await db.query({
    name: "node-exists",
    text: "SELECT 1 FROM node_executions WHERE execution_id = $1 AND node_id = $2",
    values: [rowId, id.nodeId],
  });
  if (rowCount === 0) throw nodeNotFound(id);
}
