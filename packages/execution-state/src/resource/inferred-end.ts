import { isTerminalNodeEvent, nodeEventPhase } from "@flyte-ts/domain/phase";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";

/** End that admin assumes for an object without a reported one. */
export interface InferredEnd<Phase> {
  readonly phase: Phase;
  /** Explanation for people. */
  readonly reason: string;
}

export interface NonTerminalNode {
  /** Final phase of its execution. */
  readonly execution: Workflow;
  /** Phase of its parent node, if it has one. */
  readonly parent: Node | undefined;
  /** The parent node was retried later. */
  readonly parentRetried: boolean;
  /** Its phase in the execution's resource (domain's `NodePhase`), if present. */
  readonly resourcePhase: number | undefined;
}

/**
 * Derives the end of a node whose execution has ended: the phase in the resource, if terminal; else
 * success if its parent, or at the top the execution, succeeded, since that happens after the
 * success of its nodes; else aborted.
 */
export function inferNodeEnd({ execution, parent, parentRetried, resourcePhase }: NonTerminalNode): InferredEnd<Node> {
  const scope = parent === undefined ? `the execution (${Workflow[execution] ?? execution})` : `the node that it runs in (${Node[parent]})`;
  const reason = `this node did not report its end before the end of ${scope}`;
  const phase = resourcePhase === undefined ? undefined : nodeEventPhase(resourcePhase);
  if (phase !== undefined && isTerminalNodeEvent(phase)) return { phase, reason };
  const succeeded = parent === undefined ? execution === Workflow.SUCCEEDED : parent === Node.SUCCEEDED && !parentRetried;
  return { phase: succeeded ? Node.SUCCEEDED : Node.ABORTED, reason };
}

export interface NonTerminalAttempt {
  /** Final phase of its node. */
  readonly node: Node;
  /** No later attempt exists. */
  readonly isLastAttempt: boolean;
}

/** Derives the end of a task attempt whose node has ended. */
export function inferAttemptEnd({ node, isLastAttempt }: NonTerminalAttempt): InferredEnd<Task> {
  if (!isLastAttempt) return { phase: Task.FAILED, reason: "this attempt did not report its end before the next attempt" };
  const reason = `this attempt did not report its end before the end of its node (${Node[node] ?? node})`;
  if (node === Node.SUCCEEDED) return { phase: Task.SUCCEEDED, reason };
  return { phase: node === Node.FAILED ? Task.FAILED : Task.ABORTED, reason };
}
