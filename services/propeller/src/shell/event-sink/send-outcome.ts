import { EventFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/event_pb";
import { Code, isRefusedForSize, RpcError } from "@flyte-ts/rpc";

/**
 * Meaning of admin's response to an event.
 * - `recorded`: the phase is stored, by this call or an earlier one.
 * - `ended`, `incompatibleCluster`, `notFound`: refused for good.
 * - `dropped`: can never be recorded; this does not affect the execution.
 * - `again`: no decision about the event; retry.
 */
export type SendOutcome = "recorded" | "ended" | "incompatibleCluster" | "notFound" | "dropped" | "again";

export function classifyResponse(error: unknown): SendOutcome {
  if (!(error instanceof RpcError)) return "again";
  if (isRefusedForSize(error)) return "dropped";
  switch (error.code) {
    case Code.ALREADY_EXISTS:
      return "recorded";
    case Code.NOT_FOUND:
      return "notFound";
    case Code.FAILED_PRECONDITION: {
      const [reason] = error.findDetails(EventFailureReasonSchema);
      if (reason?.reason.case === "incompatibleCluster") return "incompatibleCluster";
      return reason?.reason.case === "alreadyInTerminalState" ? "ended" : "dropped";
    }
    case Code.INVALID_ARGUMENT:
    case Code.UNIMPLEMENTED:
    case Code.OUT_OF_RANGE:
      return "dropped";
    // RESOURCE_EXHAUSTED, UNAVAILABLE, DEADLINE_EXCEEDED, and errors of the recorder or of the
    // caller's credentials.
    default:
      return "again";
  }
}

/** Tells whether a call failed because no recorder is reachable, whichever its event. */
export function isUnavailable(error: unknown): boolean {
  return error instanceof RpcError && error.code === Code.UNAVAILABLE;
}
