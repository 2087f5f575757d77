import { type ExecutionName } from "../../model/identifier.js";
import { dateOfNanos } from "../common-columns.js";
import { workflowPhaseOf } from "../../model/phase-name.js";
import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Queryable } from "@flyte-ts/postgres";

/** A non-terminal execution without recent events. */
export interface StaleExecution extends ExecutionName {
  readonly rowId: bigint;
  readonly phase: WorkflowExecution_Phase;
  readonly cluster: string;
  readonly acceptedAt: Date;
  /**
   * Time since which every check has missed something of it, ms; undefined when the last one has
   * not, or an event has come since.
   */
  readonly missingMs: number | undefined;
  readonly hasPendingLaunch: boolean;
  readonly hasPendingAbort: boolean;
}

interface Row {
  id: bigint;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  phase: string;
  cluster: string;
  accepted_ns: bigint;
  missing_ms: number | null;
  has_pending_launch: boolean;
  has_pending_abort: boolean;
}

/** Claims the executions whose last check is oldest; no other replica claims them for `staleMs`. */
export async function claimStale(
  db: Queryable,
  { staleMs, limit }: { staleMs: number; limit: number },
): Promise<readonly StaleExecution[]> {
  const { rows } = await db.query<Row>({
    name: "claim-stale-executions",
    text: `UPDATE executions e SET checked_at = now() FROM (
        SELECT id FROM executions
        WHERE phase NOT IN ('SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT')
          AND updated_at <= now() - $1 * interval '1 millisecond'
          AND (checked_at IS NULL OR checked_at <= now() - $1 * interval '1 millisecond')
        ORDER BY checked_at NULLS FIRST, id LIMIT $2 FOR UPDATE SKIP LOCKED
      ) stale WHERE e.id = stale.id
      RETURNING e.id, e.execution_project, e.execution_domain, e.execution_name, e.phase, e.cluster, e.accepted_ns,
        CASE WHEN e.missing_since > e.updated_at THEN (extract(epoch FROM now() - e.missing_since) * 1000)::float8 END AS missing_ms,
        EXISTS (SELECT 1 FROM execution_outbox o WHERE o.execution_id = e.id AND o.action = 'launch') AS has_pending_launch,
        EXISTS (SELECT 1 FROM execution_outbox o WHERE o.execution_id = e.id AND o.action = 'abort') AS has_pending_abort`,
    values: [staleMs, limit],
  });
  return rows.map((row) => ({
    rowId: row.id,
    project: row.execution_project,
    domain: row.execution_domain,
    name: row.execution_name,
    phase: workflowPhaseOf(row.phase),
    cluster: row.cluster,
    acceptedAt: dateOfNanos(row.accepted_ns),
    missingMs: row.missing_ms ?? undefined,
    hasPendingLaunch: row.has_pending_launch,
    hasPendingAbort: row.has_pending_abort,
  }));
}

/** Stores that a check has missed the resource of an execution, or outputs of it. */
export async function noteMissing(db: Queryable, rowId: bigint): Promise<void> {
  await db.query({ name: "note-missing", text: "UPDATE executions SET missing_since = now() WHERE id = $1", values: [rowId] });
}

/** Stores that a check has found what earlier ones have missed. */
export async function noteFound(db: Queryable, rowId: bigint): Promise<void> {
  await db.query({ name: "note-found", text: "UPDATE executions SET missing_since = NULL WHERE id = $1", values: [rowId] });
}
