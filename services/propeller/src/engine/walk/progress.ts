import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { START_NODE } from "../graph/index-graph.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "../handler/decision.js";
import { attemptStarted } from "../status/update-phase.js";
import { arm } from "./attempt.js";
import { fitsInline, sizeOf, writeOutputs } from "./outputs.js";
import { succeed } from "./settle.js";
import type { Walk } from "./walk.js";

/** Marks the node's attempt as running; publishes the first one. */
export function running(walk: Walk, node: RuntimeNode, more: Partial<RuntimeNode["status"]>): void {
  const first = node.status.startedAt === undefined;
  node.attemptStartedAt = walk.now;
  walk.setNode(node, { ...attemptStarted(node.status, walk.now), ...more });
  if (first) walk.tell.node(node, NodeExecution_Phase.RUNNING, {}, walk.releaseOf(node));
  arm(walk, node);
}

/** Outputs too large for the status are written first. */
export function succeedWithOutputs(walk: Walk, node: RuntimeNode, { outputs }: Extract<NodeDecision, { kind: "succeed" }>): void {
  const value = outputs?.value;
  if (value === undefined || node.id === START_NODE || fitsInline(walk, sizeOf(value))) {
    succeed(walk, node, { outputs });
    return;
  }
  writeOutputs(walk, node, value, { value: undefined, deckUri: "" });
}
