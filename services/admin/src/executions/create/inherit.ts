import type { ExecutionName } from "../store/execution/state.js";
import { create } from "@bufbuild/protobuf";
import {
  type ExecutionMetadata,
  ExecutionMetadataSchema,
  type ExecutionSpec,
  ExecutionSpecSchema,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { ExecutionClusterLabel } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { fromBinary } from "@bufbuild/protobuf";
import type { Queryable } from "@flyte-ts/postgres";
import { checkNodeId, nodeNotFound } from "../execution/identifier.js";

export interface Inherited {
  readonly metadata: ExecutionMetadata;
  readonly clusterLabel: ExecutionClusterLabel | undefined;
  readonly cluster: string | undefined;
  readonly parent: { readonly executionId: bigint; readonly nodeId: string } | undefined;
  readonly sourceExecutionId: bigint | undefined;
}

export interface ParentNodeRow {
  has_node: boolean;
  execution: bigint;
  principal: string;
  cluster: string;
  spec: Uint8Array;
}

/**
 * Metadata of a new execution. A child inherits the principal, cluster and cluster label of its parent execution, and
 * its nesting plus one. An engine, which sends a nesting, may be ahead of its own events: the parent node need not be
 * stored yet.
 *
 * @throws RpcError NOT_FOUND when the named parent node does not exist.
 */
export async function inherit(db: Queryable, spec: ExecutionSpec, principal: string): Promise<Inherited> {
  const given = spec.metadata ?? create(ExecutionMetadataSchema);
  const parent = given.parentNodeExecution;
  const metadata = { ...given, principal, artifactIds: [] };
  const none = {
    clusterLabel: spec.executionClusterLabel,
    cluster: undefined,
    parent: undefined,
    sourceExecutionId: undefined,
  };
  if (parent === undefined) return { metadata, ...none };
  checkNodeId(parent, "parent_node_execution");
  const row = await findParentNode(db, parent.executionId, parent.nodeId);
  if (row === undefined || !(row.has_node || given.nesting > 0)) throw nodeNotFound(parent);
  const source = fromBinary(ExecutionSpecSchema, row.spec);
  return {
    metadata: { ...metadata, principal: row.principal, nesting: (source.metadata?.nesting ?? 0) + 1 },
    clusterLabel: source.executionClusterLabel ?? spec.executionClusterLabel,
    cluster: row.cluster,
    parent: { executionId: row.execution, nodeId: parent.nodeId },
    sourceExecutionId: row.execution,
  };
}

/** Reads the parent execution of a child, and whether its node is stored; undefined when there is no such execution. */
async function findParentNode(db: Queryable, { project, domain, name }: ExecutionName, nodeId: string): Promise<ParentNodeRow | undefined> {
  const { rows } = await db.query<ParentNodeRow>({
    name: "find-parent-node",
    text: `SELECT n.node_id IS NOT NULL AS has_node, e.id AS execution, e.principal, e.cluster, e.spec
      FROM executions e LEFT JOIN node_executions n ON n.execution_id = e.id AND n.node_id = $4
      WHERE e.execution_project = $1 AND e.execution_domain = $2 AND e.execution_name = $3`,
    values: [project, domain, name, nodeId],
  });
  return rows[0];
}
