import { finishAuditEntry, insertAuditEntry } from "../../identity/index.js";
import { type Backoff, backoffDelay } from "@flyte-ts/async";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { type DeletingCluster, findCluster } from "../../clusters/index.js";
import { type ClaimedRow, namespaceOf, type QueueHandler, requeue } from "../../platform/index.js";
import {
  deleteChildRows,
  deleteExecutionRows,
  type executionIds,
  deletionQueue,
  executionQueries,
  attemptQueries,
} from "../../executions/index.js";
import type { AutomationDeps } from "../deps.js";
import { attemptCacheInfo, treesReferencedByCache } from "./cache-references.js";
import { deletionBlocker, type Member } from "./deletion-blocker.js";
import { deleteFolder, type FolderDeps } from "./delete-folder.js";
import type { RetentionMetrics } from "./metrics.js";
import { executionsSharingFolder, metadataFolders, rawOutputFolders } from "./storage-paths.js";
import { readTrees } from "./tree.js";
import { deleteFinishedDeliveries } from "../store/deliveries.js";

export interface DeletionDeps extends Pick<AutomationDeps, "db" | "blobs" | "config" | "clock" | "random" | "logger"> {
  readonly clusters: readonly DeletingCluster[];
  readonly sleep: (ms: number) => Promise<void>;
  readonly metrics: RetentionMetrics;
}

/** Lease duration, ms. When it expires, another worker may claim the deletion. */
const LEASE_MS = 120_000;
const BACKOFF: Backoff = { initialMs: 10_000, maxMs: 3_600_000, jitter: 0.5 };
/** Attempts whose events are read in one query. */
const ATTEMPTS = 200;
/** The row id is the execution's. */
interface ClaimedDeletion extends executionIds.ExecutionName, ClaimedRow {
  readonly root: bigint;
  readonly confirmed: boolean;
  readonly keepsRawOutputs: boolean;
  readonly byPolicy: boolean;
  readonly requestedBy: string;
  readonly rawOutputPrefix: string;
  readonly cluster: string;
}

/** Processes the deletions that are due. */
export function createDeletionHandler(deps: DeletionDeps): QueueHandler<ClaimedDeletion> {
  return {
    table: deletionQueue.DELETIONS,
    leaseMs: LEASE_MS,
    concurrency: deps.config.retention.concurrency,
    pollMs: 2_000,
    claim: (limit) => claimDeletions(deps, limit),
    process: async (one) => {
      try {
        if (one.confirmed) await deleteExecution(deps, one);
        else await verifyDeletable(deps, one);
      } catch (error) {
        await failed(deps, one, error);
      }
    },
    errorMessage: "executions could not be deleted; retrying",
  };
}

/** Claims roots first, whose trees are checked again before anything is deleted. */
async function claimDeletions({ db, clock, config }: DeletionDeps, limit: number): Promise<readonly ClaimedDeletion[]> {
  const now = clock();
  const rows = await deletionQueue.claimDueDeletions(db, { now, leaseEnd: new Date(now.getTime() + LEASE_MS), limit });
  return rows.map((row) => ({
    id: row.id,
    root: row.root_id,
    confirmed: row.confirmed,
    keepsRawOutputs: row.keeps_raw_outputs,
    byPolicy: row.by_policy,
    requestedBy: row.requested_by,
    attempts: row.attempts,
    project: row.project,
    domain: row.domain,
    name: row.name,
    rawOutputPrefix: row.raw_output_prefix || config.storage.rawOutputPrefix,
    cluster: row.cluster,
  }));
}

/** Detects children and recoveries that were accepted concurrently with the mark. */
async function verifyDeletable({ db, logger, metrics, clock }: DeletionDeps, { root, ...one }: ClaimedDeletion): Promise<void> {
  const [tree] = await readTrees(db, [root]);
  if (tree === undefined) return;
  const reason = deletionBlocker(root, tree.members satisfies readonly Member[]);
  if (reason !== undefined) {
    await deletionQueue.cancelDeletion(db, root);
    logger.warn({ execution: nameOf(one), reason }, "deletion cancelled");
    metrics.cancelled.inc();
    return;
  }
  const ids = tree.members.map(({ id }) => id);
  const cached = await treesReferencedByCache(db, new Map(ids.map((id) => [id, root])));
  await deletionQueue.confirmDeletion(db, ids, { root, ...one, now: clock(), keepsRawOutputs: cached.has(root) });
}

/** Deletes blobs, resource, child rows, then the row: an interrupted deletion can resume. */
async function deleteExecution(deps: DeletionDeps, one: ClaimedDeletion): Promise<void> {
  const { blobs, config, sleep, metrics, logger } = deps;
  const folder: FolderDeps = {
    blobs,
    blobsPerSecond: config.retention.blobsPerSecond / config.retention.concurrency,
    sleep,
    onBatch: (count) => metrics.blobs.inc(count),
  };
  let deleted = 0;
  if (!(await isFolderShared(deps, one))) {
    for (const prefix of metadataFolders(blobs, config.storage, one)) {
      if (prefix.endsWith("/")) deleted += await deleteFolder(folder, prefix);
      else await blobs.delete(prefix);
    }
  }
  if (!one.keepsRawOutputs && !(await hasNameCollision(deps, one))) {
    for await (const prefix of rawFoldersOf(deps, one)) deleted += await deleteFolder(folder, prefix);
  }
  await deleteResource(deps, one);
  await deleteRows(deps, one, deleted);
  metrics.executions.inc({ by: one.byPolicy ? "policy" : "request" });
  logger.info({ execution: nameOf(one), blobs: deleted }, "execution deleted");
}

/**
 * Deletes the FlyteWorkflow of the execution, if it is still there. A failure does not stop the
 * deletion, since the data plane may be gone: propeller deletes resources of ended executions after
 * a day.
 */
async function deleteResource({ clusters, config, logger }: DeletionDeps, one: ClaimedDeletion): Promise<void> {
  const cluster = findCluster(clusters, one.cluster);
  const namespace = namespaceOf(config.namespaceTemplate, one.project, one.domain);
  try {
    await cluster?.kube.delete(FLYTE_WORKFLOW_RESOURCE, { namespace, name: one.name, propagation: "Background" });
  } catch (error) {
    logger.warn({ execution: nameOf(one), error: String(error) }, "the resource of a deleted execution stays until propeller deletes it");
  }
}

/**
 * True when another execution has metadata in the same folder. The deletion of the last of these
 * executions includes the folder.
 */
async function isFolderShared({ db }: DeletionDeps, one: ClaimedDeletion): Promise<boolean> {
  return executionQueries.existsAny(db, executionsSharingFolder(one));
}

/**
 * True when another execution has the same name: folders of raw outputs are named after the
 * execution's name alone.
 */
async function hasNameCollision({ db }: DeletionDeps, { id, name }: ClaimedDeletion): Promise<boolean> {
  return executionQueries.existsOtherNamed(db, name, id);
}

async function* rawFoldersOf(deps: DeletionDeps, { id, name, rawOutputPrefix }: ClaimedDeletion): AsyncGenerator<string> {
  let after = 0n;
  for (;;) {
    const rows = await attemptQueries.listAttemptsAfter(deps.db, id, { after, limit: ATTEMPTS });
    const infos = await attemptCacheInfo(
      deps.db,
      rows.map((row) => row.id),
    );
    for (const row of rows) {
      const items = infos.get(row.id)?.items ?? [];
      yield* rawOutputFolders(rawOutputPrefix, { execution: name, nodeId: row.node_id, attempt: Number(row.retry_attempt), items });
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

async function deleteRows(deps: DeletionDeps, one: ClaimedDeletion, blobs: number): Promise<void> {
  const { db, clock } = deps;
  await deleteChildRows(db, one.id);
  const { project, domain, name } = one;
  const at = clock();
  await db.transaction(async (tx) => {
    await deleteFinishedDeliveries(tx, one);
    if (!(await deleteExecutionRows(tx, one))) return;
    const entryId = await insertAuditEntry(tx, {
      at,
      subject: one.byPolicy ? "retention policy" : one.requestedBy,
      clientId: "",
      method: "flytets.admin.v1.RetentionService/DeleteExecution",
      project,
      domain,
      identifiers: JSON.stringify({ id: { project, domain, name } }),
      requestId: "",
      peer: "",
      transport: "internal",
    });
    const message = `deleted with ${blobs} blobs${one.keepsRawOutputs ? "; raw outputs stay for the cache" : ""}`;
    await finishAuditEntry(tx, entryId, { at, code: "OK", message });
  });
}

async function failed({ db, clock, random, logger, metrics }: DeletionDeps, one: ClaimedDeletion, error: unknown): Promise<void> {
  const delayMs = backoffDelay(BACKOFF, one.attempts - 1, random);
  metrics.failures.inc();
  logger.warn({ execution: nameOf(one), attempts: one.attempts, error: String(error) }, "execution could not be deleted; retrying");
  await requeue(db, deletionQueue.DELETIONS, { row: one, delayMs, reason: String(error), now: clock() });
}

const nameOf = ({ project, domain, name }: executionIds.ExecutionName) => `${project}/${domain}/${name}`;
