import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { RuntimeNode } from "../graph/runtime.js";
import { beginArray } from "./array.js";
import { chooseArm } from "./branch.js";
import type { NodeDecision } from "./decision.js";
import { collectOutputs } from "./end-node.js";
import { closeGate } from "./gate.js";
import { passInputs } from "./start-node.js";
import { enterSubWorkflow } from "./sub-workflow.js";
import { beginTask } from "./task.js";

/** First decision of a node, once its inputs are bound. The start node's inputs are its graph's. */
export function decideBegin(node: RuntimeNode, inputs: LiteralMap): NodeDecision {
  const { target } = node.model;
  const { definitions } = node.scope;
  switch (target.kind) {
    case "start":
      return passInputs(node, inputs);
    case "end":
      return collectOutputs(node, inputs);
    case "task":
      return beginTask(target.task, definitions);
    case "branch":
      return chooseArm(target.branch, inputs);
    case "subWorkflow":
      return enterSubWorkflow(target.workflow, definitions);
    case "launchPlan":
      return { kind: "launch", launchPlan: target.launchPlan };
    case "gate":
      return closeGate(target.gate);
    case "array":
      return beginArray(node, target, inputs);
  }
}
