import { type ExecutionName } from "../../model/identifier.js";
import { dateOfNanos } from "../common-columns.js";
import { workflowPhaseOf } from "../../model/phase-name.js";
import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Queryable } from "@flyte-ts/postgres";

export interface TerminalExecution extends ExecutionName {
  readonly rowId: bigint;
  readonly cluster: string;
  readonly acceptedAt: Date;
  readonly phase: WorkflowExecution_Phase;
  readonly endedAt: bigint;
}

interface Row {
  id: bigint;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  cluster: string;
  accepted_ns: bigint;
  phase: string;
  ended_ns: bigint;
}

export async function claimTerminal(
  db: Queryable,
  { endedMs, limit }: { endedMs: number; limit: number },
): Promise<readonly TerminalExecution[]> {
  const { rows } = await db.query<Row>({
    name: "claim-terminal-executions",
    text: `SELECT id, execution_project, execution_domain, execution_name, cluster, accepted_ns, phase, COALESCE(ended_ns, updated_ns) AS ended_ns
      FROM executions
      WHERE settled_at IS NULL AND phase IN ('SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT')
        AND updated_at <= now() - $1 * interval '1 millisecond'
      ORDER BY updated_at LIMIT $2`,
    values: [endedMs, limit],
  });
  return rows.map((row) => ({
    rowId: row.id,
    project: row.execution_project,
    domain: row.execution_domain,
    name: row.execution_name,
    cluster: row.cluster,
    acceptedAt: dateOfNanos(row.accepted_ns),
    phase: workflowPhaseOf(row.phase),
    endedAt: row.ended_ns,
  }));
}
