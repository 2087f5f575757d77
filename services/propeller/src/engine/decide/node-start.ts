import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { RuntimeNode } from "../graph/runtime.js";
import { decideArrayStart } from "./array.js";
import { chooseArm } from "./branch.js";
import type { NodeDecision } from "./decision.js";
import { endNodeOutputs } from "./end-node.js";
import { gateCondition } from "./gate.js";
import { startNodeOutputs } from "./start-node.js";
import { decideSubWorkflowStart } from "./sub-workflow.js";
import { decideTaskStart } from "./task.js";

/** First decision of a node, once its inputs are bound. The start node's inputs are its graph's. */
export function decideStart(node: RuntimeNode, inputs: LiteralMap): NodeDecision {
  const { target } = node.model;
  const { definitions } = node.scope;
  switch (target.kind) {
    case "start":
      return startNodeOutputs(node, inputs);
    case "end":
      return endNodeOutputs(node, inputs);
    case "task":
      return decideTaskStart(target.task, definitions);
    case "branch":
      return chooseArm(target.branch, inputs);
    case "subWorkflow":
      return decideSubWorkflowStart(target.workflow, definitions);
    case "launchPlan":
      return { kind: "launch", launchPlan: target.launchPlan };
    case "gate":
      return gateCondition(target.gate);
    case "array":
      return decideArrayStart(node, target, inputs);
  }
}
