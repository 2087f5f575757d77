import type { Queryable } from "@flyte-ts/postgres";
import type { QueueTable } from "../../platform/index.js";

/** True when an execution is marked for deletion. */
export async function isBeingDeleted(db: Queryable, rowId: bigint): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "is-being-deleted",
    text: "SELECT 1 FROM execution_deletions WHERE execution_id = $1",
    values: [rowId],
  });
  return rowCount > 0;
}

/** Removes the marks of a tree whose deletion has not been confirmed. */
export async function cancelDeletion(db: Queryable, root: bigint): Promise<void> {
  await db.query({
    name: "cancel-deletion",
    text: "DELETE FROM execution_deletions WHERE root_id = $1 AND NOT confirmed",
    values: [root],
  });
}

export interface DeletionConfirmation {
  readonly root: bigint;
  readonly byPolicy: boolean;
  readonly requestedBy: string;
  readonly now: Date;
  readonly keepsRawOutputs: boolean;
}

/** Confirms the deletion of all members of a tree, including those that were not marked before. */
export async function confirmDeletion(
  db: Queryable,
  members: readonly bigint[],
  { root, byPolicy, requestedBy, now, keepsRawOutputs }: DeletionConfirmation,
): Promise<void> {
  await db.query({
    name: "confirm-deletion",
    text: `INSERT INTO execution_deletions (execution_id, root_id, by_policy, requested_by, marked_at, available_at, confirmed, keeps_raw_outputs)
      SELECT id, $2, $3, $4, $5, $5, true, $6 FROM unnest($1::bigint[]) AS m(id)
      ON CONFLICT (execution_id) DO UPDATE
        SET confirmed = true, keeps_raw_outputs = EXCLUDED.keeps_raw_outputs, available_at = EXCLUDED.available_at, attempts = 0`,
    values: [members, root, byPolicy, requestedBy, now, keepsRawOutputs],
  });
}

export interface DueDeletionRow {
  readonly id: bigint;
  readonly root_id: bigint;
  readonly confirmed: boolean;
  readonly keeps_raw_outputs: boolean;
  readonly by_policy: boolean;
  readonly requested_by: string;
  readonly attempts: number;
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  readonly raw_output_prefix: string | null;
  /** Name of the data plane; empty for the only one. */
  readonly cluster: string;
}

/**
 * Claims due deletions until `leaseEnd`: roots of marked trees, and all members of confirmed ones.
 */
export async function claimDueDeletions(
  db: Queryable,
  { now, leaseEnd, limit }: { readonly now: Date; readonly leaseEnd: Date; readonly limit: number },
): Promise<readonly DueDeletionRow[]> {
  const { rows } = await db.query<DueDeletionRow>({
    name: "claim-deletions",
    text: `WITH claimed AS (
        UPDATE execution_deletions SET available_at = $2, attempts = attempts + 1 WHERE execution_id IN (
          SELECT execution_id FROM execution_deletions WHERE available_at <= $1 AND (confirmed OR execution_id = root_id)
          ORDER BY available_at, execution_id LIMIT $3 FOR UPDATE SKIP LOCKED)
        RETURNING *)
      SELECT e.id, t.root_id, t.confirmed, t.keeps_raw_outputs, t.by_policy, t.requested_by, t.attempts, e.execution_project AS project,
        e.execution_domain AS domain, e.execution_name AS name, e.cluster,
        e.launch #>> '{config,rawOutputDataConfig,outputLocationPrefix}' AS raw_output_prefix
      FROM claimed t JOIN executions e ON e.id = t.execution_id`,
    values: [now, leaseEnd, limit],
  });
  return rows;
}

export interface Mark {
  readonly at: Date;
  readonly beginsAt: Date;
  readonly byPolicy: boolean;
  readonly requestedBy: string;
}

/**
 * Marks executions for deletion with the root of their tree; those that are marked already stay as
 * they are.
 */
export async function insertDeletions(
  db: Queryable,
  members: readonly { readonly id: bigint; readonly root: bigint }[],
  { byPolicy, requestedBy, at, beginsAt }: Mark,
): Promise<void> {
  await db.query({
    name: "mark-deletions",
    text: `INSERT INTO execution_deletions (execution_id, root_id, by_policy, requested_by, marked_at, available_at)
      SELECT id, root, $3, $4, $5, $6 FROM unnest($1::bigint[], $2::bigint[]) AS m(id, root)
      ON CONFLICT DO NOTHING`,
    values: [members.map(({ id }) => id), members.map(({ root }) => root), byPolicy, requestedBy, at, beginsAt],
  });
}

/** Counts the executions that are marked for deletion. */
export async function countDeletions(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ n: number }>({ name: "count-deletions", text: "SELECT count(*)::int AS n FROM execution_deletions" });
  return rows[0]?.n ?? 0;
}

export const DELETIONS: QueueTable = { name: "execution_deletions", key: "execution_id", reason: "last_error" };
