import type { GraphModel } from "@flyte-ts/workflow-crd";

/** What a graph does when one of its nodes has failed. */
export type FailurePolicy = "stopAtOnce" | "finishExecutable";

/**
 * A workflow that finishes what can be finished wants the same of its sub-workflows;
 * a sub-workflow may also ask for it itself.
 */
export function failurePolicy(graph: GraphModel, parent: FailurePolicy | undefined): FailurePolicy {
  if (parent === "finishExecutable") return parent;
  return graph.onFailurePolicy === "FAIL_AFTER_EXECUTABLE_NODES_COMPLETE" ? "finishExecutable" : "stopAtOnce";
}
