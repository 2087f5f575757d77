import { create } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { isTime } from "@flyte-ts/domain/timestamp";
import { type ExecutionError, ExecutionError_ErrorKind, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { ExecutionErrorJson, GoErrorJson } from "@flyte-ts/workflow-crd/status";
import { boundMessage } from "./bound-message.js";

/** Converts an error to its form in the resource. A missing one becomes `Unknown`. */
export function errorToJson(error: ExecutionError | undefined): ExecutionErrorJson {
  if (error === undefined) return { code: "Unknown", message: "Unknown error message" };
  return {
    code: error.code === "" ? "Unknown" : error.code,
    message: boundMessage(error.message),
    ...(error.kind === ExecutionError_ErrorKind.UNKNOWN ? {} : { kind: ExecutionError_ErrorKind[error.kind] }),
    ...(error.errorUri === "" ? {} : { errorUri: error.errorUri }),
    ...timestampField(error.timestamp),
    ...(error.worker === "" ? {} : { worker: error.worker }),
  };
}

/** Omits a time that RFC 3339 cannot express: the code of a task may have written it. */
function timestampField(timestamp: Timestamp | undefined): { readonly timestamp?: string } {
  return timestamp === undefined || !isTime(timestamp) ? {} : { timestamp: timestampDate(timestamp).toISOString() };
}

/** Converts an error to its form in events. */
export function errorFromJson(error: ExecutionErrorJson): ExecutionError {
  const time = error.timestamp === undefined ? Number.NaN : Date.parse(error.timestamp);
  return create(ExecutionErrorSchema, {
    code: error.code,
    message: error.message,
    kind: kindOf(error.kind),
    errorUri: error.errorUri ?? "",
    timestamp: Number.isNaN(time) ? undefined : timestampFromMs(time),
    worker: error.worker ?? "",
  });
}

/** Converts an error to its form in nested statuses. */
export function errorToPlain(error: ExecutionErrorJson): GoErrorJson {
  const { code, message, kind, errorUri, timestamp, worker } = errorFromJson(error);
  return {
    code,
    message,
    ...(kind === ExecutionError_ErrorKind.UNKNOWN ? {} : { kind }),
    ...(errorUri === "" ? {} : { error_uri: errorUri }),
    ...(timestamp === undefined ? {} : { timestamp: { seconds: Number(timestamp.seconds), nanos: timestamp.nanos } }),
    ...(worker === "" ? {} : { worker }),
  };
}

/** Converts an error back from its form in nested statuses. */
export function errorFromPlain(error: GoErrorJson): ExecutionErrorJson {
  const { timestamp } = error;
  return errorToJson(
    create(ExecutionErrorSchema, {
      code: error.code,
      message: error.message,
      // Statuses written by earlier versions contain the name instead of the number.
      kind: typeof error.kind === "number" ? error.kind : kindOf(error.kind),
      errorUri: error.error_uri ?? "",
      timestamp: timestamp && { seconds: BigInt(timestamp.seconds ?? 0), nanos: timestamp.nanos ?? 0 },
      worker: error.worker ?? "",
    }),
  );
}

function kindOf(kind: string | undefined): ExecutionError_ErrorKind {
  switch (kind) {
    case "USER":
      return ExecutionError_ErrorKind.USER;
    case "SYSTEM":
      return ExecutionError_ErrorKind.SYSTEM;
    default:
      return ExecutionError_ErrorKind.UNKNOWN;
  }
}
