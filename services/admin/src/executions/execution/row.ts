import { create, toBinary } from "@bufbuild/protobuf";
import { isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { ExecutionError_ErrorKind, ExecutionErrorSchema, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { truncateUtf8 } from "@flyte-ts/rpc";
import { timestampOf } from "@flyte-ts/execution-state";
import { workflowPhaseOf } from "../model/phase-name.js";
import { MessageWriter, truncateField, withoutField } from "../../platform/index.js";
import type { ExecutionRow } from "../store/execution/find.js";

/** Maximum length of an error message in lists, bytes. */
export const LIST_ERROR_BYTES = 100;

/** Field numbers of the published protos. */
const LIST = { executions: 1, token: 2 } as const;
const EXECUTION = { id: 1, spec: 2, closure: 3 } as const;
const ID = { project: 1, domain: 2, name: 4 } as const;
const SPEC = { inputs: 2 } as const;
const CLOSURE = {
  outputs: 1,
  error: 2,
  phase: 4,
  startedAt: 5,
  duration: 6,
  createdAt: 7,
  updatedAt: 8,
  abortMetadata: 12,
  stateChangeDetails: 14,
} as const;
const BLOB = { uri: 2 } as const;
const ERROR = { message: 2 } as const;
const ABORT = { cause: 1, principal: 2 } as const;
const STATE_CHANGE = { state: 1, occurredAt: 2, principal: 3 } as const;

/**
 * Encodes a row as admin.Execution. Copies spec and closure, which are stored encoded: decoding and
 * encoding them took the largest part of a list's time.
 */
export function encodeExecution(row: ExecutionRow): Uint8Array {
  const writer = new MessageWriter();
  writeExecution(writer, row, { spec: row.spec, errorBytes: undefined });
  return writer.finish();
}

/**
 * Encodes rows as admin.ExecutionList: truncates error messages, and omits inputs in the spec,
 * which older clients send.
 */
export function encodeExecutions(rows: readonly ExecutionRow[], token: string): Uint8Array {
  const writer = new MessageWriter(256 + rows.length * 768);
  writer.string(LIST.token, token);
  for (const row of rows.toReversed()) {
    const end = writer.length;
    writeExecution(writer, row, { spec: withoutField(row.spec, SPEC.inputs), errorBytes: LIST_ERROR_BYTES });
    writer.nested(LIST.executions, end);
  }
  return writer.finish();
}

interface Shown {
  readonly spec: Uint8Array;
  readonly errorBytes: number | undefined;
}

// Fields are written from the end: see MessageWriter.
function writeExecution(writer: MessageWriter, row: ExecutionRow, { spec, errorBytes }: Shown): void {
  const end = writer.length;
  writeClosure(writer, row, errorBytes);
  writer.nested(EXECUTION.closure, end);
  writer.bytes(EXECUTION.spec, spec);
  const beforeId = writer.length;
  writer.string(ID.name, row.execution_name);
  writer.string(ID.domain, row.execution_domain);
  writer.string(ID.project, row.execution_project);
  writer.nested(EXECUTION.id, beforeId);
}

function writeClosure(writer: MessageWriter, row: ExecutionRow, errorBytes: number | undefined): void {
  const end = writer.length;
  writer.string(STATE_CHANGE.principal, row.state_changed_by);
  writer.timestamp(STATE_CHANGE.occurredAt, row.state_changed_ns);
  writer.integer(STATE_CHANGE.state, row.state);
  writer.nested(CLOSURE.stateChangeDetails, end);
  writeResult(writer, row, errorBytes);
  // Writes the stored part of the closure: notifications and workflow id.
  writer.bytes(0, row.closure);
  writer.timestamp(CLOSURE.updatedAt, row.updated_ns);
  writer.timestamp(CLOSURE.createdAt, row.accepted_ns);
  if (row.started_ns !== null && row.ended_ns !== null) writer.duration(CLOSURE.duration, row.duration);
  if (row.started_ns !== null) writer.timestamp(CLOSURE.startedAt, row.started_ns);
  writer.integer(CLOSURE.phase, workflowPhaseOf(row.phase));
}

function writeResult(writer: MessageWriter, row: ExecutionRow, errorBytes: number | undefined): void {
  const end = writer.length;
  // An aborted execution shows its principal and cause, whatever its result.
  const kind = workflowPhaseOf(row.phase) === WorkflowExecution_Phase.ABORTED ? "abort" : row.result;
  switch (kind) {
    case "outputs":
      // An empty URI is written too: the field is a member of a oneof.
      if (row.output_uri === "") writer.bytes(BLOB.uri, new Uint8Array());
      writer.string(BLOB.uri, row.output_uri);
      writer.nested(CLOSURE.outputs, end);
      break;
    case "error":
      writer.bytes(CLOSURE.error, truncateError(row.error ?? new Uint8Array(), errorBytes));
      break;
    case "abort":
      writer.string(ABORT.principal, row.abort_principal);
      writer.string(ABORT.cause, row.abort_cause);
      writer.nested(CLOSURE.abortMetadata, end);
      break;
    default:
      writeBlocker(writer, row, errorBytes);
  }
}

/** Returns core.ExecutionError with a message of at most this many bytes. */
function truncateError(bytes: Uint8Array, errorBytes: number | undefined): Uint8Array {
  return errorBytes === undefined ? bytes : truncateField(bytes, ERROR.message, errorBytes);
}

/** Error code of the blocker of a non-terminal execution. */
export const BLOCKED_CODE = "Waiting";

/**
 * Writes the blocker of a non-terminal execution as the closure's error, the only free-text field;
 * Flyte shows it for failing executions too.
 */
function writeBlocker(writer: MessageWriter, row: ExecutionRow, errorBytes: number | undefined): void {
  const { notice: blocker, notice_ns: since, started_ns: startedAt } = row;
  if (blocker === "" || since === null || isTerminalWorkflowEvent(workflowPhaseOf(row.phase))) return;
  // A blocker older than the start no longer applies.
  if (startedAt !== null && since < startedAt) return;
  const message = errorBytes === undefined ? blocker : truncateUtf8(blocker, errorBytes);
  const kind = ExecutionError_ErrorKind.SYSTEM;
  const error = create(ExecutionErrorSchema, { code: BLOCKED_CODE, kind, message, timestamp: timestampOf(since) });
  writer.bytes(CLOSURE.error, toBinary(ExecutionErrorSchema, error));
}
