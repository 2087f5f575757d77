import type { Node, WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { Compilation } from "./compilation.js";

/** Lists the workflows within a template, each once. */
export function subWorkflowsOf(
  template: Pick<WorkflowTemplate, "nodes" | "failureNode">,
  compilation: Compilation,
): readonly WorkflowTemplate[] {
  const found = new Map<string, WorkflowTemplate>();
  for (const name of referencedWorkflows(template)) {
    const built = compilation.workflows.get(name);
    if (built === undefined) continue;
    found.set(name, built.template);
    for (const inner of built.subWorkflows) found.set(inner.id?.name ?? "", inner);
  }
  return [...found.values()];
}

function referencedWorkflows({ nodes, failureNode }: Pick<WorkflowTemplate, "nodes" | "failureNode">): readonly string[] {
  return [...nodes, ...(failureNode === undefined ? [] : [failureNode])].flatMap(workflowsOf);
}

function workflowsOf(node: Node): readonly string[] {
  const { target } = node;
  switch (target.case) {
    case "workflowNode":
      return target.value.reference.case === "subWorkflowRef" ? [target.value.reference.value.name] : [];
    case "branchNode":
      return armsOf(node).flatMap(workflowsOf);
    case "arrayNode":
      return target.value.node === undefined ? [] : workflowsOf(target.value.node);
    default:
      return [];
  }
}

/** Lists the nodes of the arms of a branch. */
export function armsOf({ target }: Node): readonly Node[] {
  if (target.case !== "branchNode") return [];
  const { case: first, other = [], default: last } = target.value.ifElse ?? {};
  const arms = [first, ...other].flatMap((block) => block?.thenNode ?? []);
  return last?.case === "elseNode" ? [...arms, last.value] : arms;
}
