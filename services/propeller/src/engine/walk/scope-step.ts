import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";
import { errorToPlain } from "../failure/error-json.js";
import { failureOf } from "../failure/timed-out.js";
import { lastFailure } from "../failure/last-failure.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { SUB_WORKFLOW_FAILING } from "../status/update-phase.js";
import { stepArray } from "./array.js";
import { addFailureNode } from "./scope.js";
import { DYNAMIC_REASON, innerReason, ROOT_REASON, stopScope } from "./stop.js";
import type { Walk } from "./walk.js";
import { workflowFailing, workflowHandlesFailure, workflowStopped, workflowSucceeded } from "./workflow.js";

/** Reconciles a graph as a whole: checks whether it has ended, fails, was aborted, or has handled its failure. */
export function stepScope(walk: Walk, scope: Scope): void {
  if (scope.owner?.settled === true) return;
  switch (scope.stage) {
    case "run":
      stepRunning(walk, scope);
      return;
    case "stop":
      if (scope.live === 0) stepStopped(walk, scope);
      return;
    case "handle":
      if (scope.failureNode?.settled === true) failureHandled(walk, scope, scope.failureNode);
      return;
    case "done":
      return;
  }
}

function stepRunning(walk: Walk, scope: Scope): void {
  if (scope.array !== undefined) {
    stepArray(walk, scope, scope.array);
    return;
  }
  const over = scope.unsettled === 0 || scope.exhausted;
  if (scope.anyFailed && (over || scope.policy === "stopAtOnce")) beginFailing(walk, scope);
  else if (over) {
    scope.stage = "done";
    if (scope.owner === undefined) workflowSucceeded(walk);
    else walk.look(scope.owner);
  }
}

function beginFailing(walk: Walk, scope: Scope): void {
  const cause = scope.policy === "stopAtOnce" ? scope.nodes.get(scope.failedNode) : lastFailure(scope);
  failScope(walk, scope, { error: failureOf(cause), failedNode: cause?.id ?? "" });
}

/** Fails the graph: its running nodes are aborted, then its failure node runs. */
export function failScope(walk: Walk, scope: Scope, { error, failedNode }: { error: ExecutionErrorJson; failedNode: string }): void {
  scope.error = error;
  scope.failedNode = failedNode;
  if (scope.owner === undefined) {
    workflowFailing(walk, error, failedNode);
    stopScope(walk, scope, ROOT_REASON);
    return;
  }
  const failing = scope.owner.expanded
    ? { dynamicNodeStatus: { phase: 2, reason: DYNAMIC_REASON, error, permFailure: true } }
    : { workflowNodeStatus: { phase: SUB_WORKFLOW_FAILING, executionError: errorToPlain(error) } };
  walk.setNode(scope.owner, { ...scope.owner.status, ...failing });
  stopScope(walk, scope, innerReason(scope.owner));
}

function stepStopped(walk: Walk, scope: Scope): void {
  const { owner } = scope;
  const stoppedFromAbove = owner === undefined ? walk.aborting !== undefined : owner.stopping !== undefined;
  if (stoppedFromAbove || scope.error === undefined) {
    if (owner === undefined) workflowStopped(walk);
    else walk.look(owner);
    return;
  }
  const model = scope.graph.onFailure;
  if (model === undefined) {
    finish(walk, scope);
    return;
  }
  scope.stage = "handle";
  // An attempt's success may have caused it, but would not cause it again once the failure is known.
  walk.prompt = false;
  if (owner === undefined) workflowHandlesFailure(walk);
  walk.look(scope.failureNode ?? addFailureNode(scope, model));
}

/**
 * Keeps the original failure and appends the handler's own, since users look for the first cause. (Go Flyte reports
 * only the handler's error.)
 */
function failureHandled(walk: Walk, scope: Scope, handler: RuntimeNode): void {
  if (handler.failed && scope.error !== undefined) {
    const { code, message } = failureOf(handler);
    scope.error = { ...scope.error, message: `${scope.error.message}\n\nThe failure node [${handler.id}] failed too: ${code}: ${message}` };
  }
  finish(walk, scope);
}

function finish(walk: Walk, scope: Scope): void {
  scope.stage = "done";
  if (scope.owner === undefined) workflowStopped(walk);
  else walk.look(scope.owner);
}
