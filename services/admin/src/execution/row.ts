import { create, fromBinary } from "@bufbuild/protobuf";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain";
import {
  AbortMetadataSchema,
  type Execution,
  type ExecutionClosure,
  ExecutionClosureSchema,
  ExecutionSchema,
  ExecutionSpecSchema,
  ExecutionStateChangeDetailsSchema,
  LiteralMapBlobSchema,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { ExecutionError_ErrorKind, ExecutionErrorSchema, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { cutText } from "@flyte-ts/rpc";
import { workflowPhaseOf } from "../event/phase-name.js";
import { durationOf, timestampOf } from "../event/time.js";

/** What clients see of an execution, as the table has it. */
export interface ExecutionRow {
  id: bigint;
  execution_project: string;
  execution_domain: string;
  execution_name: string;
  spec: Uint8Array;
  closure: Uint8Array;
  state: number;
  state_changed_ns: bigint;
  state_changed_by: string;
  phase: string;
  started_ns: bigint | null;
  accepted_ns: bigint;
  updated_ns: bigint;
  ended_ns: bigint | null;
  duration: bigint;
  result: string | null;
  output_uri: string;
  error: Uint8Array | null;
  abort_cause: string;
  abort_principal: string;
  notice: string;
  notice_ns: bigint | null;
}

export const executionColumns = [
  "id",
  "execution_project",
  "execution_domain",
  "execution_name",
  "spec",
  "closure",
  "state",
  "state_changed_ns",
  "state_changed_by",
  "phase",
  "started_ns",
  "accepted_ns",
  "updated_ns",
  "ended_ns",
  "duration",
  "result",
  "output_uri",
  "error",
  "abort_cause",
  "abort_principal",
  "notice",
  "notice_ns",
]
  .map((name) => `executions.${name}`)
  .join(", ");

/** Longest error message in lists, bytes. */
export const LIST_ERROR_BYTES = 100;

export function executionOf(row: ExecutionRow, { errorBytes }: { readonly errorBytes?: number } = {}): Execution {
  return create(ExecutionSchema, {
    id: create(WorkflowExecutionIdentifierSchema, {
      project: row.execution_project,
      domain: row.execution_domain,
      name: row.execution_name,
    }),
    spec: fromBinary(ExecutionSpecSchema, row.spec),
    closure: closureOf(row, errorBytes),
  });
}

function closureOf(row: ExecutionRow, errorBytes: number | undefined): ExecutionClosure {
  const closure = fromBinary(ExecutionClosureSchema, row.closure);
  closure.phase = workflowPhaseOf(row.phase);
  closure.createdAt = timestampOf(row.accepted_ns);
  closure.updatedAt = timestampOf(row.updated_ns);
  if (row.started_ns !== null) closure.startedAt = timestampOf(row.started_ns);
  if (row.started_ns !== null && row.ended_ns !== null) closure.duration = durationOf(row.duration);
  closure.stateChangeDetails = create(ExecutionStateChangeDetailsSchema, {
    state: row.state,
    occurredAt: timestampOf(row.state_changed_ns),
    principal: row.state_changed_by,
  });
  closure.outputResult = resultOf(row, errorBytes);
  return closure;
}

function resultOf(row: ExecutionRow, errorBytes: number | undefined): ExecutionClosure["outputResult"] {
  // An aborted execution shows who aborted it and why, whatever else it met with.
  const kind = workflowPhaseOf(row.phase) === WorkflowExecution_Phase.ABORTED ? "abort" : row.result;
  switch (kind) {
    case "outputs":
      return { case: "outputs", value: create(LiteralMapBlobSchema, { data: { case: "uri", value: row.output_uri } }) };
    case "error": {
      const error = fromBinary(ExecutionErrorSchema, row.error ?? new Uint8Array());
      if (errorBytes !== undefined) error.message = cutText(error.message, errorBytes);
      return { case: "error", value: error };
    }
    case "abort":
      return { case: "abortMetadata", value: create(AbortMetadataSchema, { cause: row.abort_cause, principal: row.abort_principal }) };
    default:
      return noticeOf(row, errorBytes);
  }
}

/** Code of the error by which an execution that has not ended shows what it waits for. */
export const WAITING_CODE = "Waiting";

/**
 * What is in the way of an execution that has not ended. It is the closure's error, which
 * Flyte shows for executions that are failing, too: no other field of it is for words.
 */
function noticeOf(row: ExecutionRow, errorBytes: number | undefined): ExecutionClosure["outputResult"] {
  const { notice, notice_ns: since, started_ns: startedAt } = row;
  if (notice === "" || since === null || isTerminalWorkflowEvent(workflowPhaseOf(row.phase))) return { case: undefined };
  // What was in the way of its beginning is so no more.
  if (startedAt !== null && since < startedAt) return { case: undefined };
  const message = errorBytes === undefined ? notice : cutText(notice, errorBytes);
  return {
    case: "error",
    value: create(ExecutionErrorSchema, {
      code: WAITING_CODE,
      kind: ExecutionError_ErrorKind.SYSTEM,
      message,
      timestamp: timestampOf(since),
    }),
  };
}
