import { bigintArray, type Queryable, textArray } from "@flyte-ts/postgres";
import type { ExecutionName } from "../../model/identifier.js";
import type { Execution, ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { nanosOf } from "@flyte-ts/execution-state";

/**
 * Sets whether an execution is active or archived. Returns its row id; undefined when it does not
 * exist.
 */
export async function setArchiveState(
  db: Queryable,
  { project, domain, name }: ExecutionName,
  change: { readonly state: ExecutionState; readonly changedAt: bigint; readonly changedBy: string },
): Promise<bigint | undefined> {
  const { rows } = await db.query<{ id: bigint }>({
    name: "update-execution-state",
    text: `UPDATE executions SET state = $4, state_changed_ns = $5, state_changed_by = $6, updated_at = clock_timestamp()
      WHERE execution_project = $1 AND execution_domain = $2 AND execution_name = $3 RETURNING id`,
    values: [project, domain, name, change.state, change.changedAt, change.changedBy],
  });
  return rows[0]?.id;
}

interface Overdue extends ExecutionName {
  readonly rowId: bigint;
}

export async function findOverdue(
  db: Queryable,
  { deadlineMs, limit }: { readonly deadlineMs: number; readonly limit: number },
): Promise<readonly Overdue[]> {
  const { rows } = await db.query<Overdue>({
    name: "find-overdue-aborts",
    text: `SELECT id AS "rowId", execution_project AS project, execution_domain AS domain, execution_name AS name FROM executions
      WHERE phase = 'ABORTING' AND abort_requested_at <= now() - $1 * interval '1 millisecond'
      ORDER BY abort_requested_at LIMIT $2`,
    values: [deadlineMs, limit],
  });
  return rows;
}

/** Marks an execution as terminal without confirmation of its engine. */
export async function markAbortForced(tx: Queryable, rowId: bigint): Promise<void> {
  await tx.query({ name: "mark-forced", text: "UPDATE executions SET abort_forced = true WHERE id = $1", values: [rowId] });
}

export interface BlockerWrite {
  readonly executionId: bigint;
  /** Empty: nothing blocks the execution any more. */
  readonly reason: string;
  /** Sequence of the event: a later one replaces an earlier one. */
  readonly seq: bigint;
  /** Nanoseconds since 1970. */
  readonly at: bigint;
}

/** Stores blockers of executions unless a later one is stored. */
export async function writeBlockers(db: Queryable, rows: readonly BlockerWrite[]): Promise<void> {
  await db.query({
    name: "write-blockers",
    text: `UPDATE executions SET notice = given.notice, notice_order = given.notice_order, notice_ns = given.notice_ns
      FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[]) AS given (id, notice, notice_order, notice_ns)
      WHERE executions.id = given.id AND executions.notice_order < given.notice_order`,
    values: [
      bigintArray(rows.map(({ executionId }) => executionId)),
      textArray(rows.map(({ reason }) => reason)),
      bigintArray(rows.map(({ seq }) => seq)),
      bigintArray(rows.map(({ at }) => at)),
    ],
  });
}

/**
 * Sets the creation time and the state that users set; marks all nodes and attempts as terminal.
 */
export async function markImported(
  tx: Queryable,
  { rowId, execution }: { readonly rowId: bigint; readonly execution: Execution },
): Promise<void> {
  const change = execution.closure?.stateChangeDetails;
  const createdAt = execution.closure?.createdAt;
  await tx.query({
    name: "mark-imported-execution",
    text: `UPDATE executions SET settled_at = now(), created_at = to_timestamp($2::bigint / 1e9), state = $3,
      state_changed_ns = coalesce($4::bigint, state_changed_ns), state_changed_by = $5 WHERE id = $1`,
    values: [
      rowId,
      createdAt === undefined ? 0n : nanosOf(createdAt),
      change?.state ?? 0,
      change?.occurredAt === undefined ? null : nanosOf(change.occurredAt),
      change?.principal ?? "",
    ],
  });
}
