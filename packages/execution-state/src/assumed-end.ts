import { isTerminalNodeEvent, nodeEventPhase } from "@flyte-ts/domain";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** How something ended for which nobody reported an end. */
export interface Settlement<Phase> {
  readonly phase: Phase;
  /** For people. */
  readonly reason: string;
}

export interface OpenNode {
  /** How its execution ended. */
  readonly execution: Workflow;
  /** Phase of the node that it runs in, when it runs in one. */
  readonly parent: Node | undefined;
  /** The node that it runs in was tried again later. */
  readonly ofEarlierAttempt: boolean;
  /** Phase that the execution's resource tells for it (domain's `NodePhase`), when it tells one. */
  readonly told: number | undefined;
}

/**
 * The end of a node whose execution has ended: as the resource tells it; else it shared the
 * success of what it ran in, for nothing succeeds before its nodes do; else it was cut off.
 */
export function settleNode({ execution, parent, ofEarlierAttempt, told }: OpenNode): Settlement<Node> {
  const within =
    parent === undefined ? `the execution (${Workflow[execution] ?? execution})` : `the node that it runs in (${Node[parent]})`;
  const reason = `no end of this node was reported before the end of ${within}`;
  const phase = told === undefined ? undefined : nodeEventPhase(told);
  if (phase !== undefined && isTerminalNodeEvent(phase)) return { phase, reason };
  const succeeded = parent === undefined ? execution === Workflow.SUCCEEDED : parent === Node.SUCCEEDED && !ofEarlierAttempt;
  return { phase: succeeded ? Node.SUCCEEDED : Node.ABORTED, reason };
}

export interface OpenTask {
  /** How its node ended. */
  readonly node: Node;
  /** No attempt came after it. */
  readonly isLast: boolean;
}

/** The end of a task attempt whose node has ended. */
export function settleTask({ node, isLast }: OpenTask): Settlement<Task> {
  if (!isLast) return { phase: Task.FAILED, reason: "no end of this attempt was reported before the next attempt" };
  const reason = `no end of this attempt was reported before the end of its node (${Node[node] ?? node})`;
  if (node === Node.SUCCEEDED) return { phase: Task.SUCCEEDED, reason };
  return { phase: node === Node.FAILED ? Task.FAILED : Task.ABORTED, reason };
}
