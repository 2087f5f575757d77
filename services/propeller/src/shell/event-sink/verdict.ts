import { EventFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/event_pb";
import { Code, RpcError } from "@flyte-ts/rpc";

/**
 * What an admin's answer to an event means (contract §2.7).
 * - `recorded`: the phase stands there, by this call or an earlier one.
 * - `ended`, `incompatibleCluster`, `notFound`: it is refused, for good.
 * - `dropped`: it can never be recorded, which says nothing about the execution.
 * - `again`: nothing is said about the event; try again.
 */
export type EventVerdict = "recorded" | "ended" | "incompatibleCluster" | "notFound" | "dropped" | "again";

export function judgeAnswer(error: unknown): EventVerdict {
  if (!(error instanceof RpcError)) return "again";
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
    // RESOURCE_EXHAUSTED, UNAVAILABLE, DEADLINE_EXCEEDED and what is wrong with the recorder or with who asks.
    default:
      return "again";
  }
}
