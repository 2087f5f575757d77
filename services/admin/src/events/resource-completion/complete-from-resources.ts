import { completeAttempts } from "./complete-attempts.js";
import { completeNodes, nodesInResource, type ResourceDeps } from "./complete-nodes.js";
import { executionQueries } from "../../executions/index.js";

/**
 * Backfills nodes without a terminal event of executions that become terminal. Reads their state
 * from the executions' resources, which still have it. Returns the executions whose resources
 * cannot be read now: their terminal events must be deferred.
 */
export async function completeFromResources(deps: ResourceDeps, executionIds: readonly bigint[]): Promise<ReadonlySet<bigint>> {
  const waiting = new Set<bigint>();
  for (const execution of await executionQueries.loadPlacements(deps.db, executionIds)) {
    const nodes = await nodesInResource(deps, execution);
    if (nodes === "away") waiting.add(execution.rowId);
    else if (nodes !== "gone" && !(await isCompleted(deps, execution, nodes))) waiting.add(execution.rowId);
  }
  return waiting;
}

async function isCompleted(
  deps: ResourceDeps,
  execution: executionQueries.PlacedExecution,
  nodes: Parameters<typeof completeNodes>[2],
): Promise<boolean> {
  const about = `${execution.project}/${execution.domain}/${execution.name}`;
  try {
    const rows = (await completeNodes(deps, execution, nodes)) + (await completeAttempts(deps, execution, nodes));
    if (rows > 0)
      deps.logger.warn({ execution: about, rows }, "terminal phases of nodes taken from the execution's resource: their events were lost");
    return true;
  } catch (error) {
    deps.logger.warn(
      { execution: about, error: String(error) },
      "cannot read the terminal phases of nodes from the execution's resource; trying again later",
    );
    return false;
  }
}
