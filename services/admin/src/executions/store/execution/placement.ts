import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { Database, Queryable } from "@flyte-ts/postgres";

interface PlacementCommit {
  readonly entryId: bigint;
  readonly executionId: bigint;
  readonly cluster: string;
  /** Cluster before this decision. */
  readonly before: string;
}

/**
 * Commits the cluster before the first request to it. Returns false when another replica committed
 * first, perhaps to another cluster; the caller must reload the execution.
 */
export async function commitPlacement(db: Database, { entryId, executionId, cluster, before }: PlacementCommit): Promise<boolean> {
  const text = `UPDATE execution_outbox SET movable = false WHERE id = $1 AND movable
    RETURNING (SELECT cluster FROM executions WHERE id = execution_id) AS cluster`;
  if (cluster === before) {
    // Commits the stored cluster, which may have changed since it was read.
    const { rows } = await db.query<{ cluster: string }>({ name: "commit-placement", text, values: [entryId] });
    return rows[0]?.cluster === before;
  }
  return db.transaction(async (tx) => {
    if ((await tx.query({ name: "commit-placement", text, values: [entryId] })).rowCount === 0) return false;
    await setExecutionCluster(tx, executionId, cluster);
    return true;
  });
}

/** Changes the cluster of an execution. Call it in a transaction. */
export async function setExecutionCluster(tx: Queryable, executionId: bigint, cluster: string): Promise<void> {
  const { rows } = await tx.query<{ spec: Uint8Array }>({
    name: "read-spec-to-move",
    text: "SELECT spec FROM executions WHERE id = $1 FOR UPDATE",
    values: [executionId],
  });
  await tx.query({
    name: "set-execution-cluster",
    text: "UPDATE executions SET cluster = $2, spec = $3 WHERE id = $1",
    values: [executionId, cluster, withCluster(rows[0]?.spec ?? new Uint8Array(), cluster)],
  });
}

/** Sets `metadata.system_metadata.execution_cluster`, which clients see. */
function withCluster(bytes: Uint8Array, cluster: string): Uint8Array {
  const spec = fromBinary(ExecutionSpecSchema, bytes);
  if (spec.metadata?.systemMetadata !== undefined) spec.metadata.systemMetadata.executionCluster = cluster;
  return toBinary(ExecutionSpecSchema, spec);
}
