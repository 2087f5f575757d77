import type { IfElseBlock, Node, WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/**
 * Iterates over all nodes of a workflow: also those within branches and array nodes, and the
 * failure node, but not those of sub-workflows.
 */
export function* nodesOf(template: WorkflowTemplate): Generator<Node> {
  const pending: (Node | undefined)[] = [template.failureNode, ...template.nodes.toReversed()];
  while (pending.length > 0) {
    const node = pending.pop();
    if (node === undefined) continue;
    yield node;
    const { target } = node;
    if (target.case === "arrayNode") pending.push(target.value.node);
    else if (target.case === "branchNode" && target.value.ifElse) for (const arm of armsOf(target.value.ifElse)) pending.push(arm);
  }
}

/** Nodes that a branch may run, in order: those of its cases, then the else node. */
export function armsOf(block: IfElseBlock): readonly Node[] {
  const last = block.default.case === "elseNode" ? block.default.value : undefined;
  return [block.case?.thenNode, ...block.other.map((other) => other.thenNode), last].filter((node) => node !== undefined);
}
