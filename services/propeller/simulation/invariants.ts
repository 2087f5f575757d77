import { isTerminalNode, isTerminalWorkflow } from "@flyte-ts/domain/phase";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd/status";

/** Guarantees of the engine under all faults. */
export type Invariant =
  /**
   * An array has at most the allowed number of items running, and its outputs are those of its
   * items, in order.
   */
  | "arraysInBounds"
  /** No attempt of a node starts while another of it may be alive. */
  | "oneLivePod"
  /** Neither nodes nor the workflow return to an earlier phase, and ended ones do not change. */
  | "phasesForward"
  /**
   * An execution publishes one terminal event, equal to the resource's end, only after that is
   * durable.
   */
  | "oneTerminalEvent"
  /**
   * Liveness. From `FAULTS_END_MS` on the schedule is fair: messages arrive, calls get results,
   * processes stay up, stopped ones return; only a task type without plugin may stay unserved. Then
   * every admitted execution ends and is recorded within `MAX_SIMULATED_MS` from the start,
   * whatever happened to its attempts before. All waits are finite in these worlds: tasks have
   * deadlines or end by themselves, signals have them too, and attempts of unserved types fail by
   * `pluginUnavailableTimeout`. A world that takes more than `MAX_STEPS` counts as endless: it
   * loops.
   */
  | "everyExecutionEnds"
  /**
   * No attempt or child of an execution runs when the resource says that it has ended. Where plugin
   * services go away, unanswered aborts may be abandoned; then the attempts must be gone finally,
   * as must those that a restarted service starts for a delayed request.
   */
  | "noOrphans"
  /** Admin's rows reach the end that the resource has, before the resource is released. */
  | "nothingLost"
  /**
   * The resource and the blob store alone contain the complete end of the execution and of each of
   * its nodes, until admin has recorded the end.
   */
  | "endsComplete"
  /**
   * Each node finds the outputs that it binds, whatever was lost before: every succeeded node has
   * output all its values.
   */
  | "inputsThere"
  /**
   * At most one of several equal serialized calls computes at a time, unless its reservation
   * expired.
   */
  | "oneComputes"
  /** Outputs reported as cached or as found in the cache are there. */
  | "cacheIsTrue"
  /** Only nodes with equal inputs and task are recovered. */
  | "reusesTheSame"
  /** The slices that the resource names exist. */
  | "slicesStand"
  /** No propeller acts for a shard that another may hold. */
  | "onlyTheHolderActs";

export interface Violation {
  readonly invariant: Invariant;
  readonly text: string;
}

/** Order of node phases within one attempt. */
const NODE_RANK: Readonly<Record<number, number>> = { 0: 0, 1: 1, 2: 2, 11: 2.5, 8: 3, 4: 3, 3: 4, 9: 4 };
const WORKFLOW_RANK: Readonly<Record<number, number>> = { 0: 0, 1: 1, 2: 2, 4: 2, 7: 3, 3: 4, 5: 4, 6: 4 };

/** Changes of a status write that return to an earlier state. */
export function backwardSteps(before: WorkflowStatus, after: WorkflowStatus): string[] {
  const violations: string[] = [];
  if (
    isTerminalWorkflow(before.phase) ? after.phase !== before.phase : (WORKFLOW_RANK[after.phase] ?? 0) < (WORKFLOW_RANK[before.phase] ?? 0)
  ) {
    violations.push(`workflow ${before.phase} → ${after.phase}`);
  }
  compare(before.nodeStatus ?? {}, after.nodeStatus ?? {}, { path: "", said: violations });
  return violations;
}

type Statuses = Readonly<Record<string, NodeStatus>>;

function compare(before: Statuses, after: Statuses, { path, said: violations }: { path: string; said: string[] }): void {
  for (const [id, old] of Object.entries(before)) {
    const next = after[id];
    const name = path + id;
    if (next === undefined) {
      // A branch that starts again restarts its arms.
      if (old.parentNode === undefined && old.phase !== 7) violations.push(`node ${name} has lost its status`);
      continue;
    }
    if (isTerminalNode(old.phase) && old.parentNode === undefined && next.phase !== old.phase)
      violations.push(`node ${name} ${old.phase} → ${next.phase}`);
    const [a, b] = [old.attempts ?? 0, next.attempts ?? 0];
    if (b < a) violations.push(`node ${name} attempt ${a} → ${b}`);
    else if (a === b && !isTerminalNode(next.phase) && rank(next) < rank(old) && old.parentNode === undefined)
      violations.push(`node ${name} ${old.phase} → ${next.phase}`);
    if (a === b) compare(old.subNodeStatus ?? {}, next.subNodeStatus ?? old.subNodeStatus ?? {}, { path: `${name}/`, said: violations });
  }
}

function rank(status: NodeStatus): number {
  return NODE_RANK[status.phase] ?? 9;
}
