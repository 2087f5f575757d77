import { InactiveProjectSchema } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { Code, RpcError } from "@flyte-ts/rpc";

/** How a run ended for the scheduler; each of them is final. */
export type Outcome =
  | "started"
  /** The execution is there already, or the launch plan's concurrency policy leaves this run out. */
  | "exists"
  | "inactive_project"
  /** Admin will never take it. */
  | "refused";

/**
 * What admin's failure to start a run amounts to.
 *
 * @throws the failure itself, when the same request may succeed later.
 */
export function outcomeOf(failure: unknown): Exclude<Outcome, "started"> {
  if (!(failure instanceof RpcError)) throw failure;
  switch (failure.code) {
    case Code.ALREADY_EXISTS:
      return "exists";
    case Code.INVALID_ARGUMENT:
    case Code.NOT_FOUND:
    case Code.FAILED_PRECONDITION:
    case Code.OUT_OF_RANGE:
      return failure.findDetails(InactiveProjectSchema).length > 0 ? "inactive_project" : "refused";
    default:
      throw failure;
  }
}
