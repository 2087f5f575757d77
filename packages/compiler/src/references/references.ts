import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { nodesOf } from "./nodes.js";

/** A node's reference to a definition outside its workflow. */
export interface Reference {
  readonly kind: "task" | "launchPlan" | "subWorkflow";
  readonly id: Identifier;
  readonly nodeId: string;
}

/**
 * Lists all references of a workflow's own nodes: also within branches and array nodes, and of the
 * failure node, but not in sub-workflows.
 */
export function referencesOf(template: WorkflowTemplate): readonly Reference[] {
  const references: Reference[] = [];
  for (const { id: nodeId, target } of nodesOf(template)) {
    if (target.case === "taskNode") {
      const { case: kind, value: id } = target.value.reference;
      if (kind) references.push({ kind: "task", id, nodeId });
    } else if (target.case === "workflowNode") {
      const { case: kind, value: id } = target.value.reference;
      if (kind) references.push({ kind: kind === "launchplanRef" ? "launchPlan" : "subWorkflow", id, nodeId });
    }
  }
  return references;
}
