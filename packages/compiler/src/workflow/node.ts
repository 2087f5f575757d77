import { compareText } from "@flyte-ts/domain/type";
import { isReservedNode, START_NODE } from "@flyte-ts/domain/graph";
import type { BranchNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { branchHasNoCondition, branchHasNoDefault, branchNodeMissing, valueRequired } from "../error/errors.js";
import { checkBindings } from "./bindings.js";
import type { NodeBuilder, WorkflowBuilder } from "./builder.js";
import { checkCondition } from "./condition.js";
import { interfaceOf } from "./node-interface.js";
import { armsOf } from "../references/nodes.js";

/**
 * Checks a node on its own: id, interface, aliases; for a branch also its conditions and its inner
 * nodes. Sorts its upstream ids.
 */
export function checkNode(workflow: WorkflowBuilder, builder: NodeBuilder): void {
  const { node } = builder;
  if (node.id === "") workflow.errors.add(valueRequired("<node>", "Id"));
  if (isReservedNode(node.id)) return;
  if (interfaceOf(workflow, builder) !== undefined) builder.effectiveOutputs(workflow.errors);
  node.upstreamNodeIds.sort(compareText);
  if (node.target.case === "branchNode") checkBranch(workflow, builder, node.target.value);
}

/**
 * Checks a node's inputs and links it to its upstream nodes. Errors of a node without an interface
 * are reported already.
 */
export function linkNode(workflow: WorkflowBuilder, builder: NodeBuilder, edges: "both" | "upstream"): void {
  const { node } = builder;
  if (builder.interface === undefined) return;
  if (edges === "both") for (const upstream of node.upstreamNodeIds) workflow.graph.addEdge(upstream || START_NODE, node.id);
  checkBindings(workflow, builder, node.inputs, { declared: builder.interface.inputs, edges });
}

function checkBranch(workflow: WorkflowBuilder, builder: NodeBuilder, { ifElse }: BranchNode): void {
  const { errors } = workflow;
  const nodeId = builder.node.id;
  const ok = errors.addsNoErrors(() => {
    if (ifElse?.case === undefined) errors.add(branchHasNoCondition(nodeId));
    for (const block of [ifElse?.case, ...(ifElse?.other ?? [])]) {
      if (block === undefined) continue;
      checkCondition(workflow, builder, block.condition);
      if (block.thenNode === undefined) errors.add(branchNodeMissing(nodeId));
    }
    if (ifElse?.default.case === undefined) errors.add(branchHasNoDefault(nodeId));
    for (const arm of ifElse ? armsOf(ifElse) : []) checkNode(workflow, workflow.builderOf(arm));
  });
  if (!ok || ifElse === undefined) return;
  for (const arm of armsOf(ifElse)) linkNode(workflow, workflow.builderOf(arm), "upstream");
}
