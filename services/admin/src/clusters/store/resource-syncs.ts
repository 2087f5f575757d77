import { Project_ProjectState } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { sanitizeText } from "@flyte-ts/execution-state";
import type { ClustersDeps } from "../deps.js";

/** Result of the sync of one object of a template. */
export interface ResourceOutcome {
  readonly template: string;
  readonly kind: string;
  readonly name: string;
  /** `repaired`: it existed and differed from the template. */
  readonly outcome: "created" | "repaired" | "unchanged" | "failed";
  readonly error: string;
}

/** A claimed sync of a project and domain in one data plane. */
export interface ClaimedSync {
  readonly project: string;
  readonly domain: string;
  readonly cluster: string;
  readonly revision: bigint;
  readonly failures: number;
}

export interface SyncResult {
  readonly resources: readonly ResourceOutcome[];
  /** Error that prevented the whole sync; empty without one. */
  readonly reason: string;
  /** Delay until the next sync, ms. */
  readonly nextSyncMs: number;
}

/**
 * Enqueues a sync of the project, or of one of its domains; creates the rows of a new project.
 * No-op without templates. Call it in the transaction of the change or after it.
 */
export async function enqueueSync(
  db: Queryable,
  config: Pick<ClustersDeps["config"], "clusterResources" | "clusters" | "domains">,
  { project, domain = "" }: { readonly project: string; readonly domain?: string },
): Promise<void> {
  if (config.clusterResources.templatePath === undefined) return;
  const domains = config.domains.map(({ id }) => id).filter((id) => domain === "" || id === domain);
  await db.query({
    name: "enqueue-resource-syncs",
    text: `INSERT INTO cluster_resource_syncs (project, domain, cluster)
      SELECT $1, domain, cluster FROM unnest($2::text[]) AS domain CROSS JOIN unnest($3::text[]) AS cluster
      ON CONFLICT (project, domain, cluster) DO UPDATE SET due_at = now(), failures = 0, revision = cluster_resource_syncs.revision + 1`,
    values: [project, domains, config.clusters.map(({ name }) => name)],
  });
}

/** Creates rows for all projects, domains and data planes, and deletes those of removed ones. */
export async function reconcileSyncRows(
  db: Queryable,
  { domains, clusters }: Pick<ClustersDeps["config"], "domains" | "clusters">,
): Promise<void> {
  const values = [domains.map(({ id }) => id), clusters.map(({ name }) => name)];
  await db.query({
    name: "ensure-cluster-resources",
    text: `INSERT INTO cluster_resource_syncs (project, domain, cluster)
      SELECT p.identifier, domain, cluster FROM projects p CROSS JOIN unnest($1::text[]) AS domain CROSS JOIN unnest($2::text[]) AS cluster
      WHERE p.state <> ${Project_ProjectState.ARCHIVED} ON CONFLICT DO NOTHING`,
    values,
  });
  await db.query({
    name: "prune-resource-syncs",
    text: `DELETE FROM cluster_resource_syncs s WHERE NOT (s.domain = ANY($1::text[]) AND s.cluster = ANY($2::text[]))
      OR NOT EXISTS (SELECT 1 FROM projects p WHERE p.identifier = s.project AND p.state <> ${Project_ProjectState.ARCHIVED})`,
    values,
  });
}

/** Claims syncs that are due in these data planes, until the lease expires. */
export async function claimDueSyncs(
  db: Queryable,
  { clusters, limit, leaseMs }: { readonly clusters: readonly string[]; readonly limit: number; readonly leaseMs: number },
): Promise<readonly ClaimedSync[]> {
  const { rows } = await db.query<{ project: string; domain: string; cluster: string; revision: bigint; failures: number }>({
    name: "claim-resource-syncs",
    text: `WITH taken AS MATERIALIZED (
        SELECT s.project, s.domain, s.cluster FROM cluster_resource_syncs s JOIN projects p ON p.identifier = s.project
        WHERE s.due_at <= now() AND s.cluster = ANY($1::text[]) AND p.state <> ${Project_ProjectState.ARCHIVED}
        ORDER BY s.due_at LIMIT $2 FOR UPDATE OF s SKIP LOCKED
      )
      UPDATE cluster_resource_syncs s SET due_at = now() + $3 * interval '1 millisecond' FROM taken
      WHERE s.project = taken.project AND s.domain = taken.domain AND s.cluster = taken.cluster
      RETURNING s.project, s.domain, s.cluster, s.revision, s.failures`,
    values: [clusters, limit, leaseMs],
  });
  return rows;
}

/** Stores the result of a sync. A sync that was enqueued in the meantime stays due. */
export async function recordSync(db: Queryable, due: ClaimedSync, { resources, reason, nextSyncMs }: SyncResult): Promise<void> {
  const failed = reason !== "" || resources.some(({ outcome }) => outcome === "failed");
  await db.query({
    name: "record-cluster-resources",
    text: `UPDATE cluster_resource_syncs SET state = $4, reason = $5, resources = $6::jsonb, checked_at = now(),
        synced_at = CASE WHEN $4 = 'synced' THEN now() ELSE synced_at END,
        failures = CASE WHEN $4 = 'synced' OR revision <> $7 THEN 0 ELSE failures + 1 END,
        due_at = CASE WHEN revision = $7 THEN now() + $8 * interval '1 millisecond' ELSE now() END
      WHERE project = $1 AND domain = $2 AND cluster = $3`,
    values: [
      due.project,
      due.domain,
      due.cluster,
      failed ? "failed" : "synced",
      sanitizeText(reason),
      JSON.stringify(resources).replaceAll("\\u0000", ""),
      due.revision,
      nextSyncMs,
    ],
  });
}

export interface StoredSync {
  readonly project: string;
  readonly domain: string;
  readonly cluster: string;
  readonly state: "pending" | "synced" | "failed";
  readonly reason: string;
  readonly resources: readonly ResourceOutcome[];
  readonly synced_at: Date | null;
  readonly checked_at: Date | null;
}

export interface SyncPage {
  readonly project: string;
  readonly domain: string;
  readonly cluster: string;
  readonly limit: number;
  readonly offset: number;
}

/** Lists syncs by name. An empty part matches all. */
export async function listSyncs(db: Queryable, { project, domain, cluster, limit, offset }: SyncPage): Promise<readonly StoredSync[]> {
  const { rows } = await db.query<StoredSync>({
    name: "list-cluster-resources",
    text: `SELECT project, domain, cluster, state, reason, resources, synced_at, checked_at FROM cluster_resource_syncs
      WHERE ($1 = '' OR project = $1) AND ($2 = '' OR domain = $2) AND ($3 = '' OR cluster = $3)
      ORDER BY project, domain, cluster LIMIT $4 OFFSET $5`,
    values: [project, domain, cluster, limit, offset],
  });
  return rows;
}
