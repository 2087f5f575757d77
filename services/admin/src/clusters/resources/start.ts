import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { backoffDelay, type Closeable, closeAll, startPeriodic } from "@flyte-ts/async";
import { taskFailures } from "@flyte-ts/postgres";
import { Counter, type Metrics } from "@flyte-ts/telemetry";
import { resolveAttributes } from "../../registry/index.js";
import { namespaceOf } from "../../platform/index.js";
import type { ClustersDeps } from "../deps.js";
import type { Template } from "./render.js";
import { type ClaimedSync, reconcileSyncRows, recordSync, type ResourceOutcome, claimDueSyncs } from "../store/resource-syncs.js";
import { syncResources, ClusterUnavailableError } from "./sync.js";
import { valuesFor } from "./values.js";

export type SyncDeps = Pick<ClustersDeps, "db" | "config" | "clusters" | "health" | "logger"> & {
  readonly metrics?: Metrics;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Poll interval, ms. Default 1 s. */
  readonly pollMs?: number;
};

/** Maximum of projects and domains synced concurrently. */
const CONCURRENCY = 4;
/**
 * Lease duration, ms, after which another replica takes over a sync from a crashed or slow one.
 * Concurrent syncs of the same objects do no harm, because server-side apply is idempotent.
 */
const LEASE_MS = 30_000;
/** First delay after a failure, ms; it doubles up to the interval. */
const RETRY_MS = 5_000;
const ENSURE_MS = 60_000;

/**
 * Syncs the data planes with the templates until it is closed. Any number of replicas share the
 * work.
 */
export function startSync(deps: SyncDeps): Closeable {
  const { db, config, logger, pollMs = 1_000 } = deps;
  const applied =
    deps.metrics &&
    new Counter({
      name: "flyte_admin_cluster_resources_total",
      help: "Objects of templates that were reconciled, by data plane and outcome (created, repaired, unchanged, failed).",
      labelNames: ["cluster", "outcome"],
      registers: [deps.metrics],
    });
  const onApplied = (cluster: string, { outcome }: ResourceOutcome) => applied?.inc({ cluster, outcome });
  const failures = taskFailures(db, logger);
  const rounds = [
    startPeriodic(
      {
        name: "list of cluster resources",
        intervalMs: ENSURE_MS,
        batchSize: 1,
        run: () => reconcileSyncRows(db, config).then(() => 0),
        errorMessage: "the sync of cluster resources could not be enqueued",
      },
      failures,
    ),
    startPeriodic(
      {
        name: "sync of cluster resources",
        intervalMs: pollMs,
        batchSize: CONCURRENCY,
        run: (limit) => syncDue(deps, limit, onApplied),
        errorMessage: "cluster resources could not be listed",
      },
      failures,
    ),
  ];
  return closeAll(rounds);
}

/** Runs the syncs that are due once; returns their number. */
export async function syncDue(
  deps: SyncDeps,
  limit: number,
  onApplied: (cluster: string, outcome: ResourceOutcome) => void = () => undefined,
): Promise<number> {
  const { db, clusters, health } = deps;
  const open = clusters.filter(({ name }) => health?.unhealthyReason(name) === undefined).map(({ name }) => name);
  const due = await claimDueSyncs(db, { clusters: open, limit, leaseMs: LEASE_MS });
  await Promise.all(due.map((sync) => syncOne(deps, sync, onApplied)));
  return due.length;
}

async function syncOne(deps: SyncDeps, due: ClaimedSync, onApplied: (cluster: string, outcome: ResourceOutcome) => void): Promise<void> {
  const { db, config, logger } = deps;
  const intervalMs = config.clusterResources.refreshIntervalSeconds * 1_000;
  const retryMs = backoffDelay({ initialMs: RETRY_MS, maxMs: intervalMs }, due.failures);
  const where = { project: due.project, domain: due.domain, cluster: due.cluster };
  try {
    const resources = await syncProjectDomain(deps, due);
    for (const outcome of resources) {
      onApplied(due.cluster, outcome);
      const { template, kind, name, error } = outcome;
      if (outcome.outcome === "failed") logger.warn({ ...where, template, kind, name, error }, "cluster resource could not be applied");
      else if (outcome.outcome !== "unchanged")
        logger.info({ ...where, template, kind, name, outcome: outcome.outcome }, "cluster resource created");
    }
    const failed = resources.some(({ outcome }) => outcome === "failed");
    await recordSync(db, due, { resources, reason: "", nextSyncMs: failed ? retryMs : intervalMs });
  } catch (error) {
    logger.warn({ ...where, error: String(error) }, "cluster resources could not be listed");
    const reason =
      error instanceof ClusterUnavailableError || error instanceof TemplatesUnreadableError
        ? error.message
        : "an internal error occurred; see admin's log";
    await recordSync(db, due, { resources: [], reason, nextSyncMs: retryMs });
    if (error instanceof ClusterUnavailableError) deps.health?.probeNow(due.cluster);
  }
}

async function syncProjectDomain(
  { db, config, clusters, env }: SyncDeps,
  { project, domain, cluster }: ClaimedSync,
): Promise<readonly ResourceOutcome[]> {
  const kube = clusters.find(({ name }) => name === cluster)?.kube;
  if (kube === undefined) throw new ClusterUnavailableError("the data plane is not configured");
  const { templatePath = "" } = config.clusterResources;
  const query = { kind: MatchableResource.CLUSTER_RESOURCE, target: "clusterResourceAttributes" } as const;
  const attributes = (await resolveAttributes(db, query, { project, domain }))?.attributes ?? {};
  const scope = { project, domain, namespace: namespaceOf(config.namespaceTemplate, project, domain) };
  const values = valuesFor(scope, { config: config.clusterResources, attributes, env, readText: (path) => readFileSync(path, "utf8") });
  return syncResources({ kube, scope, values, templates: readTemplates(templatePath) });
}

class TemplatesUnreadableError extends Error {
  override readonly name = "TemplatesUnreadableError";
}

/** Read on each sync: there are few, and they may change while admin runs. */
function readTemplates(folder: string): readonly Template[] {
  try {
    return readdirSync(folder)
      .filter((name) => /\.ya?ml$/.test(name))
      .toSorted()
      .map((name) => ({ name, text: readFileSync(join(folder, name), "utf8") }));
  } catch (cause) {
    throw new TemplatesUnreadableError(`templates in ${folder} cannot be read (${(cause as NodeJS.ErrnoException).code ?? "error"})`, {
      cause,
    });
  }
}
