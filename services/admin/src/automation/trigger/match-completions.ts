import { triggeredExecutionName } from "@flyte-ts/domain/name";
import type { Queryable } from "@flyte-ts/postgres";
import type { CompletedExecution } from "../model/completed-execution.js";
import { insertFirings } from "../store/firings.js";
import { findMatches, type Match } from "../store/trigger-matches.js";

/**
 * Inserts the firings of the triggers that match these completed executions: one per trigger and
 * execution, idempotently.
 *
 * @returns the number of matching triggers.
 */
export async function createFirings(
  tx: Queryable,
  completed: readonly CompletedExecution[],
  { maxDepth }: { readonly maxDepth: number },
): Promise<number> {
  const matches = await findMatches(tx, completed);
  if (matches.length === 0) return 0;
  const byId = new Map(completed.map((execution) => [execution.rowId, execution]));
  const firings = matches.flatMap((match) => {
    const execution = byId.get(match.execution_id);
    return execution === undefined ? [] : [firingRow(match, execution, maxDepth)];
  });
  await insertFirings(tx, firings);
  return matches.length;
}

function firingRow(match: Match, { rowId, project, domain, name, acceptedNs, endedNs }: CompletedExecution, maxDepth: number) {
  const cause = `execution ${JSON.stringify([project, domain, name, String(acceptedNs)])}`;
  const depth = match.depth + 1;
  const tooDeep = depth > maxDepth;
  return {
    triggerId: match.trigger_id,
    cause,
    sourceId: rowId,
    project,
    domain,
    name,
    at: new Date(Number((endedNs ?? acceptedNs) / 1_000_000n)),
    targetProject: match.target_project,
    targetDomain: match.target_domain,
    startedName: triggeredExecutionName(String(match.trigger_id), cause),
    depth,
    state: tooDeep ? "refused" : "waiting",
    reason: tooDeep ? `a chain of ${match.depth} triggers led to this execution already, and triggers.maxDepth is ${maxDepth}` : "",
  };
}
