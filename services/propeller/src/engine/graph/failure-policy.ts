import type { GraphModel } from "@flyte-ts/workflow-crd";

/** Reaction of a graph to the failure of one of its nodes. */
export type FailurePolicy = "stopAtOnce" | "finishExecutable";

/**
 * A sub-workflow inherits the policy of finishing executable nodes from its workflow, or sets it
 * itself.
 */
export function failurePolicy(graph: GraphModel, parent: FailurePolicy | undefined): FailurePolicy {
  if (parent === "finishExecutable") return parent;
  return graph.onFailurePolicy === "FAIL_AFTER_EXECUTABLE_NODES_COMPLETE" ? "finishExecutable" : "stopAtOnce";
}
