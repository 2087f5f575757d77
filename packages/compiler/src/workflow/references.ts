import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { IfElseBlock, Node, WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/** One node's reference to something outside of its workflow. */
export interface Reference {
  readonly kind: "task" | "launchPlan" | "subWorkflow";
  readonly id: Identifier;
  readonly nodeId: string;
}

/** All that a workflow's own nodes refer to: within branches and array nodes too, and the failure node, but not in sub-workflows. */
export function referencesOf(template: WorkflowTemplate): readonly Reference[] {
  const found: Reference[] = [];
  const pending: (Node | undefined)[] = [template.failureNode, ...template.nodes.toReversed()];
  while (pending.length > 0) {
    const node = pending.pop();
    const target = node?.target;
    switch (target?.case) {
      case "taskNode":
        if (target.value.reference.case) found.push({ kind: "task", id: target.value.reference.value, nodeId: node?.id ?? "" });
        break;
      case "workflowNode": {
        const { case: kind, value: id } = target.value.reference;
        if (kind) found.push({ kind: kind === "launchplanRef" ? "launchPlan" : "subWorkflow", id, nodeId: node?.id ?? "" });
        break;
      }
      case "branchNode":
        if (target.value.ifElse) for (const arm of armsOf(target.value.ifElse)) pending.push(arm);
        break;
      case "arrayNode":
        pending.push(target.value.node);
        break;
      case "gateNode":
      case undefined:
    }
  }
  return found;
}

/** The nodes that a branch may run, in order: those of its cases, then the else node. */
export function armsOf(block: IfElseBlock): readonly Node[] {
  const last = block.default.case === "elseNode" ? block.default.value : undefined;
  return [block.case?.thenNode, ...block.other.map((other) => other.thenNode), last].filter((node) => node !== undefined);
}
