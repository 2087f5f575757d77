import { isTerminalNode, isTerminalWorkflow } from "@flyte-ts/domain";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd";

/** What the engine promises, whatever happens in the world. */
export type Invariant =
  /** An array has no more items under way than it allows, and its outputs are those of its items, in their order. */
  | "arraysInBounds"
  /** No attempt of a node begins while another of it may live. */
  | "oneLivePod"
  /** Neither nodes nor the workflow go back to an earlier phase, and what has ended stays as it is. */
  | "phasesForward"
  /** One end is told of an execution, it is the resource's, and not before that is durable. */
  | "oneTerminalEvent"
  /**
   * Liveness. From `FAIR_FROM` on the schedule is fair: messages arrive, calls are answered, processes
   * stay, those that were away come back; only a task type that nobody serves may stay unserved. Then
   * every execution that was admitted comes to an end that is recorded within `PATIENCE` from the
   * beginning, whatever became of its attempts before. Waiting has an end in these worlds: tasks have
   * deadlines or end by themselves, signals have them too, and attempts of types that nobody serves
   * are given up by `pluginDeadline`. A world that takes more than `MOST_STEPS` counts as one without
   * an end: something turns in a circle.
   */
  | "everyExecutionEnds"
  /**
   * Nothing of an execution runs when the resource says that it is over: no attempt, no child. Where
   * plugin services go away, attempts whose stop nobody answers may be given up; then they must be
   * gone in the end, as must what a service without memory begins for a request that came late.
   */
  | "noOrphans"
  /** Admin's rows come to an end, the one that the resource tells, before the resource is let go. */
  | "nothingLost"
  /** The resource and the blob store alone tell the whole end of the execution and of each of its nodes, until admin says that it has the end. */
  | "endsComplete"
  /** Each node finds what it binds, whatever was lost before: whatever ended well has given what it gives. */
  | "inputsThere"
  /** Of equal serialised calls one computes at a time, unless its reservation ran out. */
  | "oneComputes"
  /** What is told to come from the cache, or to be in it, is there. */
  | "cacheIsTrue"
  /** Only what had the same inputs and task is recovered. */
  | "reusesTheSame"
  /** The slices that the resource names are there. */
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
