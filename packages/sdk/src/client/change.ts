import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { isReservedNode } from "@flyte-ts/domain/graph";
import type { WatchedState } from "../api/watch.js";

/** Phase of an execution. */
export type ExecutionPhase = keyof typeof WorkflowExecution_Phase;

/** A change of an execution, of a node, or of an attempt of a node's task. */
export type Change =
  | { readonly kind: "execution"; readonly phase: ExecutionPhase; readonly reason: string }
  | {
      readonly kind: "node";
      readonly node: string;
      /** Node that holds it, in a sub-workflow; empty for nodes of the workflow itself. */
      readonly parent: string;
      readonly phase: keyof typeof NodeExecution_Phase;
      readonly reason: string;
    }
  | {
      readonly kind: "attempt";
      readonly node: string;
      /** Number of the attempt, from 0. */
      readonly attempt: number;
      readonly phase: keyof typeof TaskExecution_Phase;
      readonly reason: string;
    };

/** Converts states of an execution to its changes. */
export class Changes {
  readonly #last = new Map<string, string>();

  /** Returns what has changed: nodes and attempts first, so that the end comes last. */
  of({ execution, nodes, tasks }: WatchedState): Change[] {
    const changes: Change[] = [];
    for (const { node, parentNodeId: parent } of nodes) {
      const id = node?.id?.nodeId ?? "";
      if (isReservedNode(id)) continue;
      const phase = nameOfPhase(NodeExecution_Phase, node?.closure?.phase);
      changes.push({ kind: "node", node: id, parent, phase, reason: messageOf(node?.closure?.outputResult) });
    }
    for (const { id, closure } of tasks) {
      const [node, attempt] = [id?.nodeExecutionId?.nodeId ?? "", id?.retryAttempt ?? 0];
      const phase = nameOfPhase(TaskExecution_Phase, closure?.phase);
      // A task that succeeded keeps the reason of an earlier phase.
      const reason = messageOf(closure?.outputResult) || (phase === "SUCCEEDED" ? "" : (closure?.reason ?? ""));
      changes.push({ kind: "attempt", node, attempt, phase, reason });
    }
    if (execution !== undefined) {
      const phase = nameOfPhase(WorkflowExecution_Phase, execution.closure?.phase);
      changes.push({ kind: "execution", phase, reason: messageOf(execution.closure?.outputResult) });
    }
    return changes.filter((change) => this.#isNew(change));
  }

  #isNew({ phase, reason, ...subject }: Change): boolean {
    const [key, state] = [JSON.stringify(subject), `${phase} ${reason}`];
    // A new execution has no phase yet.
    if (phase === "UNDEFINED" || this.#last.get(key) === state) return false;
    this.#last.set(key, state);
    return true;
  }
}

export function nameOfPhase<Names extends Record<string, string | number>>(phases: Names, phase = 0): Extract<keyof Names, string> {
  return phases[phase] as Extract<keyof Names, string>;
}

/** Result of an execution, node or attempt. */
type Result = { readonly case: string | undefined; readonly value?: unknown } | undefined;

function messageOf(result: Result): string {
  if (result?.case === "error") return (result.value as { readonly message: string }).message;
  return result?.case === "abortMetadata" ? (result.value as { readonly cause: string }).cause : "";
}
