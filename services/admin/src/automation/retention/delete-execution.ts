import { type Backoff, backoffDelay } from "@flyte-ts/async";
import { requeue, type ClaimedRow, type QueueTable } from "../../platform/work-queue/lease.js";
import type { QueueHandler } from "../../platform/work-queue/worker.js";
import type { AdminDeps } from "../../deps.js";
import type { ExecutionName } from "../../executions/store/execution/state.js";
import { attemptCacheInfo, treesReferencedByCache } from "./cache-references.js";
import { type Member, deletionBlocker } from "./deletion-blocker.js";
import { deleteFolder, type FolderDeps } from "./delete-folder.js";
import type { RetentionMetrics } from "./metrics.js";
import { metadataFolders, rawOutputFolders, executionsSharingFolder } from "./storage-paths.js";
import { readTrees } from "./tree.js";

export interface DeletionDeps extends Pick<AdminDeps, "db" | "blobs" | "config" | "clock" | "random" | "logger"> {
  readonly sleep: (ms: number) => Promise<void>;
  readonly metrics: RetentionMetrics;
}

const DELETIONS: QueueTable = { name: "execution_deletions", key: "execution_id", reason: "last_error" };
/** Lease duration, ms. When it expires, another worker may claim the deletion. */
const LEASE_MS = 120_000;
const BACKOFF: Backoff = { initialMs: 10_000, maxMs: 3_600_000, jitter: 0.5 };
/** Attempts whose events are read in one query. */
const ATTEMPTS = 200;
/** Rows per DELETE statement. */
const ROWS = 5_000;

/** The row id is the execution's. */
interface ClaimedDeletion extends ExecutionName, ClaimedRow {
  readonly root: bigint;
  readonly confirmed: boolean;
  readonly keepsRawOutputs: boolean;
  readonly byPolicy: boolean;
  readonly requestedBy: string;
  readonly rawOutputPrefix: string;
}

/** Processes the deletions that are due. */
export function createDeletionHandler(deps: DeletionDeps): QueueHandler<ClaimedDeletion> {
  return {
    table: DELETIONS,
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
    errorMessage: "executions cannot be deleted now",
  };
}

/** Claims roots first, whose trees are checked again before anything is deleted. */
async function claimDeletions({ db, clock, config }: DeletionDeps, limit: number): Promise<readonly ClaimedDeletion[]> {
  const now = clock();
  const { rows } = await db.query<{
    id: bigint;
    root_id: bigint;
    confirmed: boolean;
    keeps_raw_outputs: boolean;
    by_policy: boolean;
    requested_by: string;
    attempts: number;
    project: string;
    domain: string;
    name: string;
    raw_output_prefix: string | null;
  }>({
    name: "take-deletions",
    text: `WITH taken AS (
        UPDATE execution_deletions SET available_at = $2, attempts = attempts + 1 WHERE execution_id IN (
          SELECT execution_id FROM execution_deletions WHERE available_at <= $1 AND (confirmed OR execution_id = root_id)
          ORDER BY available_at, execution_id LIMIT $3 FOR UPDATE SKIP LOCKED)
        RETURNING *)
      SELECT e.id, t.root_id, t.confirmed, t.keeps_raw_outputs, t.by_policy, t.requested_by, t.attempts, e.execution_project AS project,
        e.execution_domain AS domain, e.execution_name AS name,
        e.launch #>> '{config,rawOutputDataConfig,outputLocationPrefix}' AS raw_output_prefix
      FROM taken t JOIN executions e ON e.id = t.execution_id`,
    values: [now, new Date(now.getTime() + LEASE_MS), limit],
  });
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
  }));
}

/** Detects children and recoveries that were accepted concurrently with the mark. */
async function verifyDeletable({ db, logger, metrics, clock }: DeletionDeps, { root, ...one }: ClaimedDeletion): Promise<void> {
  const [tree] = await readTrees(db, [root]);
  if (tree === undefined) return;
  const reason = deletionBlocker(root, tree.members satisfies readonly Member[]);
  if (reason !== undefined) {
    await db.query({
      name: "withdraw-deletion",
      text: "DELETE FROM execution_deletions WHERE root_id = $1 AND NOT confirmed",
      values: [root],
    });
    logger.warn({ execution: nameOf(one), reason }, "deletion withdrawn");
    metrics.cancelled.inc();
    return;
  }
  const ids = tree.members.map(({ id }) => id);
  const cached = await treesReferencedByCache(db, new Map(ids.map((id) => [id, root])));
  await db.query({
    name: "confirm-deletion",
    text: `INSERT INTO execution_deletions (execution_id, root_id, by_policy, requested_by, marked_at, available_at, confirmed, keeps_raw_outputs)
      SELECT id, $2, $3, $4, $5, $5, true, $6 FROM unnest($1::bigint[]) AS m(id)
      ON CONFLICT (execution_id) DO UPDATE
        SET confirmed = true, keeps_raw_outputs = EXCLUDED.keeps_raw_outputs, available_at = EXCLUDED.available_at, attempts = 0`,
    values: [ids, root, one.byPolicy, one.requestedBy, clock(), cached.has(root)],
  });
}

/** Deletes blobs, then child rows, then the row, so that an interrupted deletion can resume. */
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
  await deleteRows(deps, one, deleted);
  metrics.executions.inc({ by: one.byPolicy ? "policy" : "request" });
  logger.info({ execution: nameOf(one), blobs: deleted }, "execution deleted");
}

/** True when another execution has metadata in the same folder: the last one's deletion includes it. */
async function isFolderShared({ db }: DeletionDeps, one: ClaimedDeletion): Promise<boolean> {
  const others = executionsSharingFolder(one);
  const { rowCount: count } = await db.query({
    name: "executions-of-same-folder",
    text: `SELECT 1 FROM unnest($1::text[], $2::text[], $3::text[]) AS o(project, domain, name)
      JOIN executions e ON e.execution_project = o.project AND e.execution_domain = o.domain AND e.execution_name = o.name LIMIT 1`,
    values: [others.map(({ project }) => project), others.map(({ domain }) => domain), others.map(({ name }) => name)],
  });
  return count > 0;
}

/** True when another execution has the same name: folders of raw outputs are named after the execution's name alone. */
async function hasNameCollision({ db }: DeletionDeps, { id, name }: ClaimedDeletion): Promise<boolean> {
  const { rowCount: count } = await db.query({
    name: "executions-of-same-name",
    text: "SELECT 1 FROM executions WHERE execution_name = $1 AND id <> $2 LIMIT 1",
    values: [name, id],
  });
  return count > 0;
}

async function* rawFoldersOf(deps: DeletionDeps, { id, name, rawOutputPrefix }: ClaimedDeletion): AsyncGenerator<string> {
  let after = 0n;
  for (;;) {
    const { rows } = await deps.db.query<{ id: bigint; node_id: string; retry_attempt: bigint }>({
      name: "attempts-for-retention",
      text: `SELECT id, node_id, retry_attempt FROM task_executions WHERE execution_id = $1 AND id > $2 ORDER BY id LIMIT ${ATTEMPTS}`,
      values: [id, after],
    });
    const facts = await attemptCacheInfo(
      deps.db,
      rows.map((row) => row.id),
    );
    for (const row of rows) {
      const items = facts.get(row.id)?.items ?? [];
      yield* rawOutputFolders(rawOutputPrefix, { execution: name, nodeId: row.node_id, attempt: Number(row.retry_attempt), items });
    }
    const last = rows.at(-1);
    if (last === undefined) return;
    after = last.id;
  }
}

async function deleteRows(deps: DeletionDeps, one: ClaimedDeletion, blobs: number): Promise<void> {
  const { db, clock } = deps;
  const parts = [
    `DELETE FROM task_execution_events WHERE (task_execution_id, event_order) IN (SELECT v.task_execution_id, v.event_order
      FROM task_executions t JOIN task_execution_events v ON v.task_execution_id = t.id WHERE t.execution_id = $1 LIMIT ${ROWS})`,
    `DELETE FROM task_executions WHERE id IN (SELECT id FROM task_executions WHERE execution_id = $1 LIMIT ${ROWS})`,
    `DELETE FROM node_executions WHERE id IN (SELECT id FROM node_executions WHERE execution_id = $1 LIMIT ${ROWS})`,
  ];
  for (const text of parts) {
    while ((await db.query({ text, values: [one.id] })).rowCount === ROWS);
  }
  const { project, domain, name } = one;
  const now = clock();
  await db.transaction(async (tx) => {
    await tx.query({
      text: "DELETE FROM signals WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3",
      values: [project, domain, name],
    });
    // Pending messages are still sent.
    await tx.query({
      text: "DELETE FROM notification_deliveries WHERE project = $1 AND domain = $2 AND execution_name = $3 AND state <> 'waiting'",
      values: [project, domain, name],
    });
    await tx.query({
      text: "DELETE FROM task_execution_events WHERE task_execution_id IN (SELECT id FROM task_executions WHERE execution_id = $1)",
      values: [one.id],
    });
    await tx.query({ text: "DELETE FROM task_executions WHERE execution_id = $1", values: [one.id] });
    await tx.query({ text: "DELETE FROM node_executions WHERE execution_id = $1", values: [one.id] });
    const { rowCount: count } = await tx.query({ text: "DELETE FROM executions WHERE id = $1", values: [one.id] });
    if (count === 0) return;
    await tx.query({
      text: `INSERT INTO audit_log (at, subject, client_id, method, project, domain, identifiers, request_id, peer, transport, ended_at, code, message)
        VALUES ($1, $2, '', 'flytets.admin.v1.RetentionService/DeleteExecution', $3, $4, $5::jsonb, '', '', 'internal', $1, 'OK', $6)`,
      values: [
        now,
        one.byPolicy ? "retention policy" : one.requestedBy,
        project,
        domain,
        JSON.stringify({ id: { project, domain, name } }),
        `deleted with ${blobs} blobs${one.keepsRawOutputs ? "; raw outputs stay for the cache" : ""}`,
      ],
    });
  });
}

async function failed({ db, clock, random, logger, metrics }: DeletionDeps, one: ClaimedDeletion, error: unknown): Promise<void> {
  const delayMs = backoffDelay(BACKOFF, one.attempts - 1, random);
  metrics.failures.inc();
  logger.warn({ execution: nameOf(one), attempts: one.attempts, error: String(error) }, "execution cannot be deleted now");
  await requeue(db, DELETIONS, { row: one, delayMs, reason: String(error), now: clock() });
}

const nameOf = ({ project, domain, name }: ExecutionName) => `${project}/${domain}/${name}`;
