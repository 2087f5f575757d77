import { Code, RpcError } from "@flyte-ts/rpc";
import { create } from "@bufbuild/protobuf";
import { EventErrorAlreadyInTerminalStateSchema, EventFailureReasonSchema } from "@flyte-ts/idl/flyteidl/admin/event_pb";

/** Error for an event, or a request, about an object in a terminal phase. */
export function alreadyEnded(message: string, currentPhase: string): RpcError {
  const reason = create(EventFailureReasonSchema, {
    reason: { case: "alreadyInTerminalState", value: create(EventErrorAlreadyInTerminalStateSchema, { currentPhase }) },
  });
  return new RpcError(Code.FAILED_PRECONDITION, message, { details: [{ schema: EventFailureReasonSchema, message: reason }] });
}
