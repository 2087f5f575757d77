import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { NodeModel, NodeTarget } from "@flyte-ts/workflow-crd";
import { collectItemOutputs } from "../array/gather.js";
import { arraySize } from "./array-size.js";
import { outputsUri } from "../graph/paths.js";
import type { Definitions, RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "./decision.js";

type ArrayTarget = Extract<NodeTarget, { kind: "array" }>;

/** Runs an item for each element of the lists; an array of empty lists succeeds on entry. */
export function decideArrayStart(node: RuntimeNode, { array, subNode }: ArrayTarget, inputs: LiteralMap): NodeDecision {
  const { kind } = subNode.target;
  if (kind === "branch" || kind === "start" || kind === "end") {
    const message = `the array node [${node.id}] cannot run a ${kind} node for each item`;
    return { kind: "fail", error: { code: "BadSpecificationError", kind: "USER", message } };
  }
  const length = arraySize(inputs, array.boundInputs);
  if ("error" in length) return { kind: "fail", error: length.error };
  return { kind: "enterArray", size: length.size };
}

/** The required items have succeeded; `items` are their outputs, undefined for failed ones. */
export function arraySucceeded(node: RuntimeNode, items: readonly (LiteralMap | undefined)[]): NodeDecision {
  const { target } = node.model;
  const names = target.kind === "array" ? outputNames(target.subNode, node.scope.definitions) : [];
  return { kind: "succeed", outputs: { value: collectItemOutputs(names, items), uri: outputsUri(node.attemptDir) } };
}

/** Output names, if known without a run. */
function outputNames({ target }: NodeModel, { tasks, subWorkflows }: Definitions): readonly string[] {
  switch (target.kind) {
    case "task":
      return Object.keys(tasks.get(target.task)?.interface?.outputs?.variables ?? {});
    case "subWorkflow":
      return Object.keys(subWorkflows.get(target.workflow)?.outputs.variables ?? {});
    case "array":
      return outputNames(target.subNode, { tasks, subWorkflows });
    case "start":
    case "end":
    case "branch":
    case "launchPlan":
    case "gate":
      return [];
  }
}
