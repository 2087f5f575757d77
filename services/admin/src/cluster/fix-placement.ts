import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { Database, Queryable } from "@flyte-ts/postgres";
import type { AdminDeps } from "../deps.js";
import type { PlacementConfig } from "./config-schema.js";
import { candidatesFor, pickCluster, type PlacedCluster, type PlacementWish } from "./place.js";

export interface Movable {
  readonly name: string;
  /** Cluster chosen when the execution was accepted. */
  readonly cluster: string;
  readonly wish: PlacementWish;
}

/** Cluster of an execution that can still move, or the reason why it must wait. */
export type Placement = { readonly cluster: string } | { readonly waits: string };

/** Keeps the chosen cluster while it is permitted and healthy; else picks another that is. */
export function decidePlacement(
  { clusters, rules, health }: { clusters: readonly PlacedCluster[]; rules: PlacementConfig; health: AdminDeps["health"] },
  { name, cluster, wish }: Movable,
): Placement {
  const candidates = candidatesFor(clusters, rules, wish);
  if (candidates.length === 0) return { waits: "no data plane is enabled that may take this execution" };
  const healthy = candidates.filter((candidate) => health?.problem(candidate.name) === undefined);
  if (healthy.some((candidate) => candidate.name === cluster)) return { cluster };
  const other = pickCluster(healthy, name);
  if (other !== undefined) return { cluster: other };
  return { waits: candidates.flatMap((candidate) => health?.problem(candidate.name) ?? []).join("; ") };
}

interface Fix {
  readonly entryId: bigint;
  readonly executionId: bigint;
  readonly cluster: string;
  /** Cluster before this decision. */
  readonly before: string;
}

/**
 * Commits the cluster before the first request to it. Returns false when another replica committed first, perhaps to
 * another cluster; the caller must reload the execution.
 */
export async function fixPlacement(db: Database, { entryId, executionId, cluster, before }: Fix): Promise<boolean> {
  const text = `UPDATE execution_outbox SET movable = false WHERE id = $1 AND movable
    RETURNING (SELECT cluster FROM executions WHERE id = execution_id) AS cluster`;
  if (cluster === before) {
    // Commits the stored cluster, which may have changed since it was read.
    const { rows } = await db.query<{ cluster: string }>({ name: "fix-placement", text, values: [entryId] });
    return rows[0]?.cluster === before;
  }
  return db.transaction(async (tx) => {
    if ((await tx.query({ name: "fix-placement", text, values: [entryId] })).count === 0) return false;
    await moveExecution(tx, executionId, cluster);
    return true;
  });
}

/** Changes the cluster of an execution. Call it in a transaction. */
export async function moveExecution(tx: Queryable, executionId: bigint, cluster: string): Promise<void> {
  const { rows } = await tx.query<{ spec: Uint8Array }>({
    name: "read-spec-to-move",
    text: "SELECT spec FROM executions WHERE id = $1 FOR UPDATE",
    values: [executionId],
  });
  await tx.query({
    name: "move-execution",
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
