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
  /** Time since its last event, ms. */
  readonly staleMs: number;
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
  stale_ms: number;
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
        (extract(epoch FROM now() - e.updated_at) * 1000)::float8 AS stale_ms,
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
    staleMs: row.stale_ms,
    hasPendingLaunch: row.has_pending_launch,
    hasPendingAbort: row.has_pending_abort,
  }));
}
