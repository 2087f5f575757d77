import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { errorToPlain } from "../errors/error-json.js";
import { failureErrorOf } from "../errors/timed-out.js";
import { lastFailure } from "../errors/last-failure.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { SUB_WORKFLOW_FAILING } from "../status/update-phase.js";
import { reconcileArray } from "../lifecycle/reconcile-array.js";
import { addFailureNode } from "../state/scope.js";
import { DYNAMIC_REASON, childAbortReason, ROOT_REASON, abortScope } from "../abort/abort.js";
import type { RunState } from "../state/run-state.js";
import { markWorkflowFailing, markHandlingFailure, endWorkflow, succeedWorkflow } from "../lifecycle/workflow-phase.js";

/**
 * Reconciles a graph as a whole: checks whether it has ended, fails, was aborted, or has handled
 * its failure.
 */
export function reconcileScope(state: RunState, scope: Scope): void {
  if (scope.owner?.ended === true) return;
  switch (scope.stage) {
    case "running":
      reconcileRunningScope(state, scope);
      return;
    case "aborting":
      if (scope.activeNodes === 0) onScopeAborted(state, scope);
      return;
    case "handlingFailure":
      if (scope.failureNode?.ended === true) onFailureHandled(state, scope, scope.failureNode);
      return;
    case "done":
      return;
  }
}

function reconcileRunningScope(state: RunState, scope: Scope): void {
  if (scope.array !== undefined) {
    reconcileArray(state, scope, scope.array);
    return;
  }
  const over = scope.openNodes === 0 || scope.blockedByFailure;
  if (scope.hasFailure && (over || scope.policy === "stopAtOnce")) failByPolicy(state, scope);
  else if (over) {
    scope.stage = "done";
    if (scope.owner === undefined) succeedWorkflow(state);
    else state.queues.enqueueNode(scope.owner);
  }
}

function failByPolicy(state: RunState, scope: Scope): void {
  const cause = scope.policy === "stopAtOnce" ? scope.nodes.get(scope.failedNodeId) : lastFailure(scope);
  failScope(state, scope, { error: failureErrorOf(cause), failedNode: cause?.id ?? "" });
}

/** Fails the graph: its running nodes are aborted, then its failure node runs. */
export function failScope(state: RunState, scope: Scope, { error, failedNode }: { error: ExecutionErrorJson; failedNode: string }): void {
  scope.error = error;
  scope.failedNodeId = failedNode;
  if (scope.owner === undefined) {
    markWorkflowFailing(state, error, failedNode);
    abortScope(state, scope, ROOT_REASON);
    return;
  }
  const failing = scope.owner.graph.isDynamic
    ? { dynamicNodeStatus: { phase: 2, reason: DYNAMIC_REASON, error, permFailure: true } }
    : { workflowNodeStatus: { phase: SUB_WORKFLOW_FAILING, executionError: errorToPlain(error) } };
  state.status.setNode(scope.owner, { ...scope.owner.status, ...failing });
  abortScope(state, scope, childAbortReason(scope.owner));
}

function onScopeAborted(state: RunState, scope: Scope): void {
  const { owner } = scope;
  const abortedByParent = owner === undefined ? state.end.abortReason !== undefined : owner.abortReason !== undefined;
  if (abortedByParent || scope.error === undefined) {
    if (owner === undefined) endWorkflow(state);
    else state.queues.enqueueNode(owner);
    return;
  }
  const model = scope.graph.onFailure;
  if (model === undefined) {
    completeScope(state, scope);
    return;
  }
  scope.stage = "handlingFailure";
  // An attempt's success may have caused the failure. Once the failure is known, the success would
  // not cause it again, so later effects wait for the status.
  state.observation.stopSpeculation();
  if (owner === undefined) markHandlingFailure(state);
  state.queues.enqueueNode(scope.failureNode ?? addFailureNode(scope, model));
}

/**
 * Keeps the original failure and appends the handler's own, since users look for the first cause.
 * (Go Flyte reports only the handler's error.)
 */
function onFailureHandled(state: RunState, scope: Scope, handler: RuntimeNode): void {
  if (handler.hasFailed && scope.error !== undefined) {
    const { code, message } = failureErrorOf(handler);
    scope.error = {
      ...scope.error,
      message: `${scope.error.message}\n\nThe failure node [${handler.id}] failed too: ${code}: ${message}`,
    };
  }
  completeScope(state, scope);
}

function completeScope(state: RunState, scope: Scope): void {
  scope.stage = "done";
  if (scope.owner === undefined) endWorkflow(state);
  else state.queues.enqueueNode(scope.owner);
}
