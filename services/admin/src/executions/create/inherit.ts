import { create, fromBinary } from "@bufbuild/protobuf";
import {
  type ExecutionMetadata,
  ExecutionMetadataSchema,
  type ExecutionSpec,
  ExecutionSpecSchema,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { ExecutionClusterLabel } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { Launcher } from "../model/launch-settings.js";
import { checkNodeId, nodeNotFound } from "../model/identifier.js";
import { findParentNode } from "../store/execution/find.js";

export interface Inherited {
  readonly metadata: ExecutionMetadata;
  readonly launcher: Launcher | undefined;
  readonly clusterLabel: ExecutionClusterLabel | undefined;
  readonly cluster: string | undefined;
  readonly parent: { readonly executionId: bigint; readonly nodeId: string } | undefined;
  readonly sourceExecutionId: bigint | undefined;
}

/**
 * Metadata of a new execution. A child inherits the principal, cluster and cluster label of its
 * parent execution, and its nesting plus one. An engine, which sends a nesting, may be ahead of its
 * own events: the parent node need not be stored yet.
 *
 * @throws RpcError NOT_FOUND when the named parent node does not exist.
 */
export async function inherit(
  db: Queryable,
  spec: ExecutionSpec,
  { principal, launcher }: { readonly principal: string; readonly launcher?: Launcher | undefined },
): Promise<Inherited> {
  const given = spec.metadata ?? create(ExecutionMetadataSchema);
  const parent = given.parentNodeExecution;
  const metadata = { ...given, principal, artifactIds: [] };
  const none = {
    launcher,
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
    launcher: row.launcher ?? undefined,
    clusterLabel: source.executionClusterLabel ?? spec.executionClusterLabel,
    cluster: row.cluster,
    parent: { executionId: row.execution, nodeId: parent.nodeId },
    sourceExecutionId: row.execution,
  };
}
