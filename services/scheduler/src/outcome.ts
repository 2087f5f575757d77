import { InactiveProjectSchema } from "@flyte-ts/idl/flyteidl/admin/project_pb";
import { Code, RpcError } from "@flyte-ts/rpc";

/** Final result of a run for the scheduler. */
export type Outcome =
  | "started"
  /** The execution exists already, or the launch plan's concurrency policy skips this run. */
  | "exists"
  | "inactive_project"
  /** Admin refuses it permanently. */
  | "refused";

/**
 * Classifies admin's failure to start a run.
 *
 * @throws the failure itself, when a retry may succeed.
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
