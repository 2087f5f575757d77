import { outputsUri } from "../graph/paths.js";
import { END_NODE } from "../graph/index-graph.js";
import type { Definitions, RuntimeNode, Scope } from "../graph/runtime.js";
import type { NodeDecision } from "./decision.js";

/** Runs the sub-workflow that the node refers to. */
export function decideSubWorkflowStart(reference: string, definitions: Definitions): NodeDecision {
  const graph = definitions.subWorkflows.get(reference);
  if (graph !== undefined) return { kind: "enter", graph };
  const message = `failed to find sub workflow with ID [${reference}]`;
  return { kind: "fail", error: { code: "SubWorkflowExecutionFailed", kind: "SYSTEM", message } };
}

/** End of a sub-workflow: its outputs are those that its end node collected. */
export function onSubWorkflowEnded(node: RuntimeNode, childScope: Scope): NodeDecision {
  if (childScope.error !== undefined) return { kind: "fail", error: childScope.error };
  const end = childScope.nodes.get(END_NODE);
  const value = end?.data.outputs;
  const uri = value === undefined && end !== undefined ? (end.status.outputUri ?? outputsUri(end.attemptDir)) : outputsUri(node.attemptDir);
  return { kind: "succeed", outputs: { value, uri } };
}
