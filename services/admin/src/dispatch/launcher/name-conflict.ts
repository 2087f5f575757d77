import { isTerminalWorkflow, workflowEventPhase } from "@flyte-ts/domain/phase";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import {
  deleteFoundResource,
  type ExecutionResource,
  hasIdOf,
  isOwnResource,
  type LaunchKube,
  orClusterUnavailable,
  type ResourcePlace,
  resourceOwnerText,
  RetryableLaunchError,
} from "../../clusters/index.js";
import { type launchables, publishTerminalAck } from "../../executions/index.js";
import type { LaunchDeps } from "./launch.js";

/** Meaning of an existing resource with the name of an execution that is launched. */
export type NameConflict = { readonly kind: "own" } | { readonly kind: "taken"; readonly reason: string };

/**
 * Examines the resource that has the name of an execution which is launched. It is the execution's
 * own when an earlier attempt created it. Another one that has ended is deleted.
 *
 * @throws RetryableLaunchError while another one that has ended, or is being deleted, still exists.
 */
export async function resolveNameConflict(
  deps: Pick<LaunchDeps, "bus" | "clock" | "config">,
  kube: LaunchKube,
  { namespace, owner }: ResourcePlace<launchables.LaunchableExecution>,
): Promise<NameConflict> {
  const found = await orClusterUnavailable(kube.get<ExecutionResource>(FLYTE_WORKFLOW_RESOURCE, { namespace, name: owner.name }));
  if (found === undefined) throw retryLater("the FlyteWorkflow with its name has just been deleted");
  if (isOwnResource(found, owner)) return { kind: "own" };
  const other = resourceOwnerText(found);
  const isDeleting = found.metadata.deletionTimestamp !== undefined;
  const phase = found.status?.phase ?? 0;
  const hasEnded = isTerminalWorkflow(phase);
  if (!hasEnded && !isDeleting)
    return { kind: "taken", reason: `its data plane still runs a FlyteWorkflow with its name, that of the execution ${other}` };
  if (!isDeleting) await orClusterUnavailable(deleteFoundResource(kube, found));
  // An earlier execution of this name has no row any more that would confirm its end.
  if (hasEnded && hasIdOf(found, owner)) publishTerminalAck(deps, owner, workflowEventPhase(phase));
  throw retryLater(`the FlyteWorkflow with its name, that of the execution ${other} is being deleted`);
}

function retryLater(blocker: string): RetryableLaunchError {
  return new RetryableLaunchError(blocker, { blocker: `waiting: ${blocker}`, notApplied: true });
}
