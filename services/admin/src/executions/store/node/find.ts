import type { Queryable } from "@flyte-ts/postgres";
import { type NodeId, nodeNotFound } from "../../execution/identifier.js";
import { listedNodeColumns, nodeColumns, type NodeRow } from "../../node/row.js";

export interface NodeValuesRow {
  inputs: Uint8Array | null;
  outputs: Uint8Array | null;
  dynamic_workflow: Uint8Array | null;
  dynamic_workflow_uri: string;
}

const from = `FROM executions e JOIN node_executions ON node_executions.execution_id = e.id
  WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3 AND node_executions.node_id = $4`;
const values = ({ executionId: { project, domain, name }, nodeId }: NodeId) => [project, domain, name, nodeId];

/** Finds a node for the API: a node with children counts as a parent. @throws RpcError NOT_FOUND. */
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
