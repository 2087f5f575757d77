import type { Queryable } from "@flyte-ts/postgres";

export interface CompletionLimits {
  readonly limit: number;
  /** Claims end with the execution that reaches this size of specs, closures and errors, bytes. */
  readonly maxBytes: number;
}

export async function claimCompletions(tx: Queryable, { limit, maxBytes }: CompletionLimits): Promise<readonly CompletedRow[]> {
  const { rows } = await tx.query<CompletedRow>({
    name: "claim-completions",
    text: `WITH due AS MATERIALIZED (
        SELECT execution_id FROM execution_ends ORDER BY execution_id LIMIT $1 FOR UPDATE SKIP LOCKED
      ), taken AS (
        SELECT due.execution_id, coalesce(sum(octet_length(e.spec) + octet_length(e.closure) + coalesce(octet_length(e.error), 0))
          OVER (ORDER BY e.id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
        FROM due JOIN executions e ON e.id = due.execution_id
      ), gone AS (
        DELETE FROM execution_ends d USING taken WHERE d.execution_id = taken.execution_id AND taken.bytes_before < $2::bigint
        RETURNING d.execution_id
      )
      SELECT ${completedColumns} FROM gone JOIN executions e ON e.id = gone.execution_id ORDER BY e.id`,
    values: [limit, maxBytes],
  });
  return rows;
}

export interface CompletedRow {
  id: bigint;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  phase: string;
  launch_plan_name: string;
  workflow_name: string;
  principal: string;
  spec: Uint8Array;
  closure: Uint8Array;
  error: Uint8Array | null;
  error_kind: string | null;
  error_code: string | null;
  abort_cause: string;
  abort_principal: string;
  accepted_ns: bigint;
  started_ns: bigint | null;
  ended_ns: bigint | null;
  updated_ns: bigint;
}

export const completedColumns = `e.id, e.execution_project, e.execution_domain, e.execution_name, e.phase, e.launch_plan_name, e.workflow_name,
  e.principal, e.spec, e.closure, e.error, e.error_kind, e.error_code, e.abort_cause, e.abort_principal, e.accepted_ns, e.started_ns,
  e.ended_ns, e.updated_ns`;
