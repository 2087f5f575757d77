import { fromBinary, type JsonValue } from "@bufbuild/protobuf";
import { type WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { workflowPhaseOf } from "../event/phase-name.js";
import { decodeLaunchSettings, type LaunchSettings } from "../execution/launch-settings.js";
import type { ExecutionName } from "../execution/state.js";

/** What the launcher needs of an execution. */
export interface LaunchableExecution extends ExecutionName {
  readonly phase: WorkflowExecution_Phase;
  /** Admin ended it without its engine. */
  readonly abortForced: boolean;
  readonly cluster: string;
  readonly acceptedAt: Date;
  readonly inputs: LiteralMap;
  readonly settings: LaunchSettings;
}

interface Row {
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  phase: string;
  abort_forced: boolean;
  cluster: string;
  accepted_ns: bigint;
  inputs: Uint8Array;
  launch: JsonValue;
}

export async function findLaunchable(db: Queryable, rowId: bigint): Promise<LaunchableExecution | undefined> {
  const { rows } = await db.query<Row>({
    name: "find-launchable",
    text: `SELECT execution_project, execution_domain, execution_name, phase, abort_forced, cluster, accepted_ns, inputs, launch
      FROM executions WHERE id = $1`,
    values: [rowId],
  });
  const [row] = rows;
  return (
    row && {
      project: row.execution_project,
      domain: row.execution_domain,
      name: row.execution_name,
      phase: workflowPhaseOf(row.phase),
      abortForced: row.abort_forced,
      cluster: row.cluster,
      acceptedAt: new Date(Number(row.accepted_ns / 1_000_000n)),
      inputs: fromBinary(LiteralMapSchema, row.inputs),
      settings: decodeLaunchSettings(row.launch),
    }
  );
}
