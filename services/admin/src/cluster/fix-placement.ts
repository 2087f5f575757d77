import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { Database, Queryable } from "@flyte-ts/postgres";
import type { AdminDeps } from "../deps.js";
import type { PlacementConfig } from "./config-schema.js";
import { candidatesFor, pickCluster, type PlacedCluster, type PlacementWish } from "./place.js";

export interface Movable {
  readonly name: string;
  /** Where it was placed when it was accepted. */
  readonly cluster: string;
  readonly wish: PlacementWish;
}

/** Where an execution that is still movable goes; or why it has to wait. */
export type Placement = { readonly cluster: string } | { readonly waits: string };

/**
 * It stays where it was placed while that cluster may take it and is healthy, else another one takes it that may and is.
 */
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
  /** Where it was placed before. */
  readonly before: string;
}

/**
 * Makes a placement final, before anything is sent to the cluster. Gives false when another replica has done so meanwhile, perhaps
 * for another cluster: then the execution has to be read again.
 */
export async function fixPlacement(db: Database, { entryId, executionId, cluster, before }: Fix): Promise<boolean> {
  const text = `UPDATE execution_outbox SET movable = false WHERE id = $1 AND movable
    RETURNING (SELECT cluster FROM executions WHERE id = execution_id) AS cluster`;
  if (cluster === before) {
    // What is final then is where it stands now, which may have changed since it was read.
    const { rows } = await db.query<{ cluster: string }>({ name: "fix-placement", text, values: [entryId] });
    return rows[0]?.cluster === before;
  }
  return db.transaction(async (tx) => {
    if ((await tx.query({ name: "fix-placement", text, values: [entryId] })).count === 0) return false;
    await moveExecution(tx, executionId, cluster);
    return true;
  });
}

/** Says that an execution is in that cluster. Call it in a transaction. */
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

/** What clients see of it: `metadata.system_metadata.execution_cluster`. */
function withCluster(bytes: Uint8Array, cluster: string): Uint8Array {
  const spec = fromBinary(ExecutionSpecSchema, bytes);
  if (spec.metadata?.systemMetadata !== undefined) spec.metadata.systemMetadata.executionCluster = cluster;
  return toBinary(ExecutionSpecSchema, spec);
}
