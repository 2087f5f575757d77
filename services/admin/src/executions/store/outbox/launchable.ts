import { fromBinary, type JsonValue } from "@bufbuild/protobuf";
import type { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { dateOfNanos } from "../common-columns.js";
import { workflowPhaseOf } from "../../model/phase-name.js";
import { decodeLaunchSettings, type LaunchSettings } from "../../model/launch-settings.js";
import type { ExecutionName } from "../../model/identifier.js";

/** Data of an execution that the launcher needs. */
export interface LaunchableExecution extends ExecutionName {
  readonly rowId: bigint;
  readonly phase: WorkflowExecution_Phase;
  /** Admin made it terminal without its engine. */
  readonly abortForced: boolean;
  readonly cluster: string;
  readonly acceptedAt: Date;
  readonly inputs: LiteralMap;
  readonly settings: LaunchSettings;
}

/** Row of a {@link LaunchableExecution}. */
export interface LaunchableRow {
  readonly execution_project: string;
  readonly execution_domain: string;
  readonly execution_name: string;
  readonly phase: string;
  readonly abort_forced: boolean;
  readonly cluster: string;
  readonly accepted_ns: bigint;
  readonly inputs: Uint8Array;
  readonly launch: JsonValue;
}

/** Columns of a LaunchableRow, from `executions e`. */
export const LAUNCHABLE_COLUMNS =
  "e.execution_project, e.execution_domain, e.execution_name, e.phase, e.abort_forced, e.cluster, e.accepted_ns, e.inputs, e.launch";

export async function findLaunchable(db: Queryable, rowId: bigint): Promise<LaunchableExecution | undefined> {
  const { rows } = await db.query<LaunchableRow>({
    name: "find-launchable",
    text: `SELECT ${LAUNCHABLE_COLUMNS} FROM executions e WHERE e.id = $1`,
    values: [rowId],
  });
  return rows[0] && launchableExecution(rowId, rows[0]);
}

export function launchableExecution(rowId: bigint, row: LaunchableRow): LaunchableExecution {
  return {
    rowId,
    project: row.execution_project,
    domain: row.execution_domain,
    name: row.execution_name,
    phase: workflowPhaseOf(row.phase),
    abortForced: row.abort_forced,
    cluster: row.cluster,
    acceptedAt: dateOfNanos(row.accepted_ns),
    inputs: fromBinary(LiteralMapSchema, row.inputs),
    settings: decodeLaunchSettings(row.launch),
  };
}
