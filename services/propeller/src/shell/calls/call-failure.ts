import { BlobError, BlobTooLargeError, BlobUnavailableError } from "@flyte-ts/blobstore";
import { StoredMessageError } from "@flyte-ts/input-limits";
import { codeName, type CodeName, isRefusedForSize, RpcError } from "@flyte-ts/rpc";
import type { CallResult, RefusalCode } from "../../engine/calls/call.js";

/**
 * Codes for which a retry may help; all others are final. UNAUTHENTICATED concerns this process's
 * token, which may be revoked or replaced, not the execution.
 */
const TRANSIENT_CODES: ReadonlySet<CodeName> = new Set([
  "CANCELLED",
  "UNKNOWN",
  "DEADLINE_EXCEEDED",
  "RESOURCE_EXHAUSTED",
  "ABORTED",
  "INTERNAL",
  "UNAVAILABLE",
  "UNAUTHENTICATED",
  "OK",
]);

/** Converts a failed call, or an unreadable blob, to its result. */
export function toCallFailure(error: unknown): Exclude<CallResult<never>, { kind: "value" }> {
  if (error instanceof BlobTooLargeError || error instanceof StoredMessageError)
    return { kind: "refused", code: "OUT_OF_RANGE", message: error.message };
  if (error instanceof BlobError && !(error instanceof BlobUnavailableError))
    return { kind: "refused", code: "DATA_LOSS", message: error.message };
  if (!(error instanceof RpcError)) return { kind: "error", message: String(error) };
  if (isRefusedForSize(error)) return { kind: "refused", code: "OUT_OF_RANGE", message: error.message };
  const code = codeName(error.code);
  if (isTransient(code)) return { kind: "error", message: error.toString() };
  return { kind: "refused", code, message: error.message };
}

function isTransient(code: CodeName): code is Exclude<CodeName, RefusalCode> {
  return TRANSIENT_CODES.has(code);
}
