import { isTerminalNode, isTerminalWorkflow } from "@flyte-ts/domain";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd";

export type Invariant =
  | "arraysInBounds"
  | "oneLivePod"
  | "phasesForward"
  | "oneTerminalEvent"
  | "everyExecutionEnds"
  | "noOrphans"
  | "nothingLost"
  /** Of equal serialised calls one computes at a time, unless its reservation ran out. */
  | "oneComputes"
  /** What is told to come from the cache, or to be in it, is there. */
  | "cacheIsTrue"
  /** Only what had the same inputs and task is recovered. */
  | "reusesTheSame"
  | "slicesStand"
  /** Of several propellers, nobody does anything for a shard that another may hold. */
  | "onlyTheHolderActs";

export interface Violation {
  readonly invariant: Invariant;
  readonly text: string;
}

/** Places of node phases in a node's life, within one attempt. */
const NODE_RANK: Readonly<Record<number, number>> = { 0: 0, 1: 1, 2: 2, 11: 2.5, 8: 3, 4: 3, 3: 4, 9: 4 };
const WORKFLOW_RANK: Readonly<Record<number, number>> = { 0: 0, 1: 1, 2: 2, 4: 2, 7: 3, 3: 4, 5: 4, 6: 4 };

/** What of a write of the status goes back in time. */
export function backwardSteps(before: WorkflowStatus, after: WorkflowStatus): string[] {
  const said: string[] = [];
  if (
    isTerminalWorkflow(before.phase) ? after.phase !== before.phase : (WORKFLOW_RANK[after.phase] ?? 0) < (WORKFLOW_RANK[before.phase] ?? 0)
  ) {
    said.push(`workflow ${before.phase} → ${after.phase}`);
  }
  compare(before.nodeStatus ?? {}, after.nodeStatus ?? {}, { path: "", said });
  return said;
}

type Statuses = Readonly<Record<string, NodeStatus>>;

function compare(before: Statuses, after: Statuses, { path, said }: { path: string; said: string[] }): void {
  for (const [id, old] of Object.entries(before)) {
    const next = after[id];
    const name = path + id;
    if (next === undefined) {
      // A branch that begins anew has its arms begin anew.
      if (old.parentNode === undefined && old.phase !== 7) said.push(`node ${name} is gone`);
      continue;
    }
    if (isTerminalNode(old.phase) && old.parentNode === undefined && next.phase !== old.phase)
      said.push(`node ${name} ${old.phase} → ${next.phase}`);
    const [a, b] = [old.attempts ?? 0, next.attempts ?? 0];
    if (b < a) said.push(`node ${name} attempt ${a} → ${b}`);
    else if (a === b && !isTerminalNode(next.phase) && rank(next) < rank(old) && old.parentNode === undefined)
      said.push(`node ${name} ${old.phase} → ${next.phase}`);
    if (a === b) compare(old.subNodeStatus ?? {}, next.subNodeStatus ?? old.subNodeStatus ?? {}, { path: `${name}/`, said });
  }
}

function rank(status: NodeStatus): number {
  return NODE_RANK[status.phase] ?? 9;
}
