import type { WorkflowJson } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import type { GateNodeJson, NodeJson } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { isGiven } from "../../../format/given.js";
import type { RowView } from "../../../node-table/session/protocol.js";
import { Phase } from "../../../node-table/table/node-state.js";
import type { RowTitle } from "../../../timeline/tree/row-text.js";

/**
 * Reports whether a row may be a gate: it has begun without a task, and encloses nothing. Outputs
 * from the cache and from a recovered execution take no attempt either.
 */
export function mayBeGateRow({ isGroup, task, flags, count, startedMs, state, phase }: RowView): boolean {
  const isPlain = !isGroup && task === "" && flags === 0 && count === 0;
  return isPlain && startedMs !== undefined && state !== "cached" && phase !== Phase.recovered;
}

/**
 * Returns a function that names gates as the graph does: by their signal, with their kind. A row
 * below another is named only if all workflows that have a node of its id mean the same gate.
 */
export function gateTitles(workflow: WorkflowJson): (row: RowView) => RowTitle | undefined {
  const { primary, subWorkflows = [] } = workflow.closure?.compiledWorkflow ?? {};
  const top = titlesOf(primary?.template?.nodes ?? []);
  const below = titlesOf([primary, ...subWorkflows].flatMap((each) => each?.template?.nodes ?? []));
  return (row) => {
    if (!mayBeGateRow(row)) return undefined;
    return row.specId === "" ? top.get(row.nodeId) : below.get(row.specId);
  };
}

function titlesOf(nodes: readonly NodeJson[]): ReadonlyMap<string, RowTitle | undefined> {
  const titles = new Map<string, RowTitle | undefined>();
  for (const { id = "", gateNode } of nodes) {
    const title = isGiven(gateNode) ? titleOf(gateNode) : undefined;
    const isSame = !titles.has(id) || titles.get(id)?.name === title?.name;
    titles.set(id, isSame ? title : undefined);
  }
  return titles;
}

function titleOf({ approve, signal }: GateNodeJson): RowTitle | undefined {
  if (isGiven(signal)) return { name: signal.signalId ?? "", kind: "signal" };
  return isGiven(approve) ? { name: approve.signalId ?? "", kind: "approval" } : undefined;
}
