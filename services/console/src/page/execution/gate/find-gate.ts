import type { WorkflowJson } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import type { SignalJson } from "@flyte-ts/idl/flyteidl/admin/signal_pb";
import type { NodeExecutionJson } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import type { LiteralTypeJson } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { isGiven } from "../../../format/given.js";

/** Question that a gate node waits for. */
export interface Gate {
  readonly kind: "approval" | "signal";
  readonly signalId: string;
  readonly type: LiteralTypeJson;
}

const WAITING = ["UNDEFINED", "QUEUED", "RUNNING"];

/** Reports whether a node may be a gate that waits: it runs neither a task nor a workflow. */
export function mayBeGate(node: NodeExecutionJson | undefined): boolean {
  const { closure, metadata } = node ?? {};
  if (!isGiven(closure) || !WAITING.includes(closure.phase ?? "UNDEFINED")) return false;
  return (
    metadata?.isParentNode !== true &&
    metadata?.isArray !== true &&
    !isGiven(closure.taskNodeMetadata) &&
    !isGiven(closure.workflowNodeMetadata)
  );
}

/**
 * Returns the questions of a node that have no answer yet: that of its gate, or where the workflow
 * does not have the node, since a task made it, those of all gates.
 */
export function openGates(workflow: WorkflowJson, specNodeId: string, signals: readonly SignalJson[]): readonly Gate[] {
  const { primary, subWorkflows = [] } = workflow.closure?.compiledWorkflow ?? {};
  const nodes = [primary, ...subWorkflows].flatMap((each) => each?.template?.nodes ?? []).filter(({ id }) => id === specNodeId);
  const gates = nodes.flatMap(({ gateNode }) => (isGiven(gateNode) ? [gateNode] : []));
  const own = new Set(gates.flatMap(({ approve, signal }) => approve?.signalId ?? signal?.signalId ?? []));
  const typed = new Set(gates.flatMap(({ signal }) => signal?.signalId ?? []));
  return signals
    .filter(({ id, value }) => !isGiven(value) && (nodes.length === 0 || own.has(id?.signalId ?? "")))
    .map(({ id, type }) => {
      const signalId = id?.signalId ?? "";
      const isQuestion = type?.simple === "BOOLEAN" && !typed.has(signalId);
      return { kind: isQuestion ? "approval" : "signal", signalId, type: type ?? {} };
    });
}
