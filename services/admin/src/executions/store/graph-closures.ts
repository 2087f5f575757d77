import type { Queryable } from "@flyte-ts/postgres";
import { type ExecutionName, executionNotFound, type NodeId, nodeNotFound } from "../model/identifier.js";

/** Row id of the workflow of an execution. @throws RpcError NOT_FOUND. */
export async function findWorkflowOfExecution(db: Queryable, { project, domain, name }: ExecutionName): Promise<bigint> {
  const { rows } = await db.query<{ workflow_id: bigint }>({
    name: "find-workflow-of-execution",
    text: "SELECT workflow_id FROM executions WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3",
    values: [project, domain, name],
  });
  if (rows[0] === undefined) throw executionNotFound({ project, domain, name });
  return rows[0].workflow_id;
}

/** Workflow that a node created. */
export interface CreatedWorkflow {
  /** Row id of the node. */
  id: bigint;
  /** Time of the node's last event: the workflow is another one only after a further event. */
  updated_ns: bigint;
  dynamic_workflow_uri: string;
  /** Bytes of a closure in the row, 0 for none. */
  stored_bytes: number;
}

/** @throws RpcError NOT_FOUND. */
export async function findCreatedWorkflow(db: Queryable, id: NodeId): Promise<CreatedWorkflow> {
  const { project, domain, name } = id.executionId;
  const { rows } = await db.query<CreatedWorkflow>({
    name: "find-created-workflow",
    text: `SELECT n.id, n.updated_ns, n.dynamic_workflow_uri, COALESCE(octet_length(n.dynamic_workflow), 0) AS stored_bytes
      FROM executions e JOIN node_executions n ON n.execution_id = e.id
      WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3 AND n.node_id = $4`,
    values: [project, domain, name, id.nodeId],
  });
  if (rows[0] === undefined) throw nodeNotFound(id);
  return rows[0];
}

/** Reads the closure in the row of a node; undefined when it has none. */
export async function findCreatedClosure(db: Queryable, nodeRowId: bigint): Promise<Uint8Array | undefined> {
  const { rows } = await db.query<{ dynamic_workflow: Uint8Array | null }>({
    name: "find-created-closure",
    text: "SELECT dynamic_workflow FROM node_executions WHERE id = $1",
    values: [nodeRowId],
  });
  return rows[0]?.dynamic_workflow ?? undefined;
}
