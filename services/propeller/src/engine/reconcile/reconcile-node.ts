import { NodePhase } from "@flyte-ts/domain/phase";
import { chosenArm } from "../graph/arms.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { onArmEnded } from "../decide/branch.js";
import { onSubWorkflowEnded } from "../decide/sub-workflow.js";
import { onArrayEnded } from "../lifecycle/array-outputs.js";
import { applyDecision, tryStart, bindInputs } from "./start-node.js";
import { keepReservation } from "../dependencies/cache.js";
import { commitSuccess, commitSuccessDuringAbort } from "../lifecycle/commit-outputs.js";
import { scheduleRetry } from "../attempt/next-attempt.js";
import { needsGraph, finishDynamic, loadDynamicGraph } from "./dynamic.js";
import { abortChild } from "./child-execution.js";
import { releaseOutputs } from "../data/outputs.js";
import { resumeNodeWork } from "./resume.js";
import { endAborted, failNode, timeOutNode } from "../lifecycle/end-node.js";
import { isIdle } from "../abort/abort.js";
import type { RunState } from "../state/run-state.js";

/** Reconciles one node: the only place where a node progresses. */
export function reconcileNode(state: RunState, node: RuntimeNode): void {
  if (node.ended) return;
  keepReservation(state, node);
  if (!node.started) tryStart(state, node);
  else if (node.abortReason !== undefined) reconcileAborting(state, node);
  else if (node.data.pendingWrites !== undefined) return;
  else if (node.data.uncommittedSuccess !== undefined) commitSuccess(state, node);
  else if (node.status.phase === NodePhase.NotYetStarted) bindInputs(state, node);
  else reconcileRunning(state, node);
}

function reconcileRunning(state: RunState, node: RuntimeNode): void {
  // All of the last attempt has ended, and the next one starts in time.
  if (node.status.retryAt !== undefined) return;
  const arm = chosenArm(node);
  if (needsGraph(node)) loadDynamicGraph(state, node);
  else if (arm !== undefined) reconcileBranch(state, node, arm);
  else if (node.childScope === undefined) resumeNodeWork(state, node);
  else if (node.childScope.stage === "done" && node.graph.isDynamic) finishDynamic(state, node, node.childScope);
  else if (node.childScope.stage === "done") onChildScopeDone(state, node, node.childScope);
}

/** End of the graph below the node. */
function onChildScopeDone(state: RunState, node: RuntimeNode, childScope: Scope): void {
  const { array } = childScope;
  if (node.data.uncommittedSuccess !== undefined) return;
  applyDecision(state, node, array === undefined ? onSubWorkflowEnded(node, childScope) : onArrayEnded(state, node, childScope, array));
}

function reconcileBranch(state: RunState, node: RuntimeNode, arm: RuntimeNode): void {
  if (!arm.ended) return;
  applyDecision(state, node, onArmEnded(node, arm));
  if (node.ended) releaseOutputs(state, arm);
}

/** Completes a node's abort when nothing of it runs. */
function reconcileAborting(state: RunState, node: RuntimeNode): void {
  const { scope, abortReason } = node;
  if (node.data.uncommittedSuccess !== undefined) {
    commitSuccessDuringAbort(state, node, node.data.uncommittedSuccess);
    return;
  }
  const arm = chosenArm(node);
  if (arm?.hasSucceeded === true && scope.stage !== "aborting") {
    // The arm succeeded before it could be aborted.
    node.lifecycle.clearAbort();
    reconcileBranch(state, node, arm);
    return;
  }
  if (node.calls.childState !== "none" && node.model.target.kind === "launchPlan") {
    abortChild(state, node, node.model.target.launchPlan);
    return;
  }
  if (needsGraph(node)) {
    loadDynamicGraph(state, node);
    return;
  }
  if (!isIdle(node)) return;
  if (scope.stage === "aborting" || node.branch?.abortReason !== undefined) endAborted(state, node, abortReason ?? "");
  else onAborted(state, node);
}

/** Completes a node that its own deadlines aborted, when nothing of it runs. */
function onAborted(state: RunState, node: RuntimeNode): void {
  node.lifecycle.clearAbort();
  switch (node.status.phase) {
    case NodePhase.Failing:
      failNode(state, node, node.status.error ?? { code: "Unknown", message: "Unknown error message" });
      return;
    case NodePhase.TimingOut:
      timeOutNode(state, node);
      return;
    case NodePhase.RetryableFailure:
      scheduleRetry(state, node);
      return;
    default:
      return;
  }
}
