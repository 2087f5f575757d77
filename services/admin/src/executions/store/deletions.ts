import { bigintArray, booleanArray, type Queryable, textArray } from "@flyte-ts/postgres";
import type { ExecutionName } from "../model/identifier.js";
import type { QueueTable } from "../../platform/index.js";
import { nameArrays } from "./name-arrays.js";
import { PLACES } from "./expired-executions.js";

/** True when an execution is marked for deletion. */
export async function isBeingDeleted(db: Queryable, rowId: bigint): Promise<boolean> {
  const { rowCount } = await db.query({
    name: "is-being-deleted",
    text: "SELECT 1 FROM execution_deletions WHERE execution_id = $1",
    values: [rowId],
  });
  return rowCount > 0;
}

/** Removes the marks of trees whose deletion has not been confirmed. */
export async function cancelDeletions(db: Queryable, roots: readonly bigint[]): Promise<void> {
  await db.query({
    name: "cancel-deletions",
    text: "DELETE FROM execution_deletions WHERE root_id = ANY($1::bigint[]) AND NOT confirmed",
    values: [bigintArray(roots)],
  });
}

/** A tree whose deletion is confirmed, with all its members. */
export interface ConfirmedTree {
  readonly root: bigint;
  readonly members: readonly bigint[];
  readonly byPolicy: boolean;
  readonly requestedBy: string;
  readonly keepsRawOutputs: boolean;
}

/**
 * Confirms the deletion of all members of trees, including those that were not marked before. The
 * members are due now, except the roots: their claim continues.
 */
export async function confirmDeletions(db: Queryable, trees: readonly ConfirmedTree[], now: Date): Promise<void> {
  const members = trees.flatMap((tree) => tree.members.map((id) => ({ id, tree })));
  await db.query({
    name: "confirm-deletions",
    text: `INSERT INTO execution_deletions AS d
        (execution_id, root_id, by_policy, requested_by, marked_at, available_at, confirmed, keeps_raw_outputs)
      SELECT m.id, m.root, m.by_policy, m.requested_by, $6, $6, true, m.keeps
        FROM unnest($1::bigint[], $2::bigint[], $3::boolean[], $4::text[], $5::boolean[]) AS m(id, root, by_policy, requested_by, keeps)
      ON CONFLICT (execution_id) DO UPDATE SET confirmed = true, keeps_raw_outputs = EXCLUDED.keeps_raw_outputs,
        available_at = CASE WHEN d.execution_id = EXCLUDED.root_id THEN d.available_at ELSE EXCLUDED.available_at END,
        attempts = CASE WHEN d.execution_id = EXCLUDED.root_id THEN d.attempts ELSE 0 END`,
    values: [
      bigintArray(members.map(({ id }) => id)),
      bigintArray(members.map(({ tree }) => tree.root)),
      booleanArray(members.map(({ tree }) => tree.byPolicy)),
      textArray(members.map(({ tree }) => tree.requestedBy)),
      booleanArray(members.map(({ tree }) => tree.keepsRawOutputs)),
      now,
    ],
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
  readonly accepted_ns: bigint;
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
        e.execution_domain AS domain, e.execution_name AS name, e.cluster, e.accepted_ns,
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

/**
 * Filters executions to those of whose other names one exists, unless its deletion is confirmed:
 * its data is deleted anyway.
 */
export async function findSharingAny(
  db: Queryable,
  executions: readonly { readonly id: bigint; readonly others: readonly ExecutionName[] }[],
): Promise<ReadonlySet<bigint>> {
  const others = executions.flatMap(({ id, others: names }) => names.map((other) => ({ id, ...other })));
  if (others.length === 0) return new Set();
  const { rows } = await db.query<{ id: bigint }>({
    name: "executions-of-same-folder",
    text: `SELECT DISTINCT o.id FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS o(id, project, domain, name),
        LATERAL (SELECT FROM executions e
          WHERE e.execution_project = o.project AND e.execution_domain = o.domain AND e.execution_name = o.name
            AND NOT EXISTS (SELECT FROM execution_deletions d WHERE d.execution_id = e.id AND d.confirmed) LIMIT 1) AS found`,
    values: [bigintArray(others.map(({ id }) => id)), ...nameArrays(others)],
  });
  return new Set(rows.map(({ id }) => id));
}

/**
 * Filters executions to those whose name another one has, in any project and domain, unless the
 * deletion of the other one with its raw outputs is confirmed. A deleted one whose raw outputs stay
 * for the cache counts too.
 */
export async function findSameNamed(
  db: Queryable,
  executions: readonly { readonly id: bigint; readonly name: string }[],
): Promise<ReadonlySet<bigint>> {
  const { rows } = await db.query<{ id: bigint }>({
    name: "executions-of-same-name",
    // Looks names up by project and domain: the index of names alone serves searches, and is slow.
    text: `WITH RECURSIVE ${PLACES}
      SELECT own.id FROM unnest($1::bigint[], $2::text[]) AS own(id, name),
        LATERAL (SELECT FROM place p, LATERAL (SELECT FROM executions e
            WHERE e.execution_project = p.project AND e.execution_domain = p.domain AND e.execution_name = own.name AND e.id <> own.id
              AND NOT EXISTS (SELECT FROM execution_deletions d
                WHERE d.execution_id = e.id AND d.confirmed AND NOT d.keeps_raw_outputs) LIMIT 1) AS found LIMIT 1) AS other
      UNION ALL SELECT own.id FROM unnest($1::bigint[], $2::text[]) AS own(id, name) JOIN kept_raw_outputs k ON k.execution_name = own.name`,
    values: [bigintArray(executions.map(({ id }) => id)), textArray(executions.map(({ name }) => name))],
  });
  return new Set(rows.map(({ id }) => id));
}
