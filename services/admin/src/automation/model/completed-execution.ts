import { fromBinary } from "@bufbuild/protobuf";
import type { Notification } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ExecutionClosureSchema, ExecutionSpecSchema } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { ExecutionErrorSchema, type WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { truncateUtf8 } from "@flyte-ts/rpc";
import { type executionIds, type completionQueue, phaseNames } from "../../executions/index.js";

/** Data of a terminal execution for notifications and triggers. */
export interface CompletedExecution extends executionIds.ExecutionName {
  readonly rowId: bigint;
  readonly phase: WorkflowExecution_Phase;
  readonly workflow: Identifier | undefined;
  /** The launched entity: a launch plan or a task. */
  readonly launched: Identifier | undefined;
  readonly launchPlanName: string;
  readonly workflowName: string;
  readonly principal: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly error: { readonly kind: string; readonly code: string; readonly message: string } | undefined;
  readonly abort: { readonly cause: string; readonly principal: string } | undefined;
  readonly acceptedNs: bigint;
  readonly startedNs: bigint | undefined;
  readonly endedNs: bigint | undefined;
  readonly notifications: readonly Notification[];
}

/**
 * Maximum length of an error's message and code, bytes: errors may have megabytes, and recipients
 * read the beginning.
 */
const MAX_ERROR_BYTES = 4_000;

export function completedExecution(row: completionQueue.CompletedRow): CompletedExecution {
  const spec = fromBinary(ExecutionSpecSchema, row.spec);
  const closure = fromBinary(ExecutionClosureSchema, row.closure);
  const phase = phaseNames.workflowPhaseOf(row.phase);
  const { error } = row;
  return {
    rowId: row.id,
    project: row.execution_project,
    domain: row.execution_domain,
    name: row.execution_name,
    phase,
    workflow: closure.workflowId,
    launched: spec.launchPlan,
    launchPlanName: row.launch_plan_name,
    workflowName: row.workflow_name,
    principal: row.principal,
    labels: spec.labels?.values ?? {},
    error:
      error === null || row.phase === "SUCCEEDED" || row.phase === "ABORTED"
        ? undefined
        : {
            kind: row.error_kind ?? "UNKNOWN",
            code: truncateUtf8(row.error_code ?? "", MAX_ERROR_BYTES),
            message: truncateUtf8(fromBinary(ExecutionErrorSchema, error).message, MAX_ERROR_BYTES),
          },
    abort: row.phase === "ABORTED" ? { cause: truncateUtf8(row.abort_cause, MAX_ERROR_BYTES), principal: row.abort_principal } : undefined,
    acceptedNs: row.accepted_ns,
    startedNs: row.started_ns ?? undefined,
    endedNs: row.ended_ns ?? row.updated_ns,
    notifications: closure.notifications,
  };
}
