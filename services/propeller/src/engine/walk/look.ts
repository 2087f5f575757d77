import { NodePhase } from "@flyte-ts/domain";
import { takenArm } from "../graph/arms.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { armEnded } from "../handler/branch.js";
import { subWorkflowEnded } from "../handler/sub-workflow.js";
import { arrayEnded } from "./array-outputs.js";
import { apply, consider, prepare } from "./begin.js";
import { keepReservation } from "./caching.js";
import { land, landAtOnce } from "./landing.js";
import { scheduleRetry } from "./next-attempt.js";
import { awaitsGraph, collapse, expand } from "./expand.js";
import { stopLaunch } from "./launch.js";
import { releaseOutputs } from "./outputs.js";
import { resume } from "./resume.js";
import { abort, fail, timeOut } from "./settle.js";
import { atRest } from "./stop.js";
import type { Walk } from "./walk.js";

/** Reconciles one node: the only place where a node progresses. */
export function look(walk: Walk, node: RuntimeNode): void {
  if (node.settled) return;
  keepReservation(walk, node);
  if (!node.begun) consider(walk, node);
  else if (node.stopping !== undefined) lookAtStopping(walk, node);
  else if (node.writes !== undefined) return;
  else if (node.pendingOutputs !== undefined) land(walk, node);
  else if (node.status.phase === NodePhase.NotYetStarted) prepare(walk, node);
  else lookAtRunning(walk, node);
}

function lookAtRunning(walk: Walk, node: RuntimeNode): void {
  const arm = takenArm(node);
  if (awaitsGraph(node)) expand(walk, node);
  else if (arm !== undefined) lookAtArm(walk, node, arm);
  else if (node.inner === undefined) resume(walk, node);
  else if (node.inner.stage === "done" && node.expanded) collapse(walk, node, node.inner);
  else if (node.inner.stage === "done") lookAtEnded(walk, node, node.inner);
}

/** End of the graph below the node. */
function lookAtEnded(walk: Walk, node: RuntimeNode, inner: Scope): void {
  const { array } = inner;
  if (node.pendingOutputs !== undefined) return;
  apply(walk, node, array === undefined ? subWorkflowEnded(node, inner) : arrayEnded(walk, node, inner, array));
}

function lookAtArm(walk: Walk, node: RuntimeNode, arm: RuntimeNode): void {
  if (!arm.settled) return;
  apply(walk, node, armEnded(node, arm));
  if (node.settled) releaseOutputs(walk, arm);
}

/** Completes a node's abort when nothing of it runs. */
function lookAtStopping(walk: Walk, node: RuntimeNode): void {
  const { scope, stopping } = node;
  if (node.pendingOutputs !== undefined) {
    landAtOnce(walk, node, node.pendingOutputs);
    return;
  }
  const arm = takenArm(node);
  if (arm?.succeeded === true && scope.stage !== "stop") {
    // It succeeded before it could be aborted.
    node.stopping = undefined;
    lookAtArm(walk, node, arm);
    return;
  }
  if (node.child !== "none" && node.model.target.kind === "launchPlan") {
    stopLaunch(walk, node, node.model.target.launchPlan);
    return;
  }
  if (awaitsGraph(node)) {
    expand(walk, node);
    return;
  }
  if (!atRest(node)) return;
  if (scope.stage === "stop" || node.branch?.stopping !== undefined) abort(walk, node, stopping ?? "");
  else rest(walk, node);
}

/** Completes a node that its own deadlines aborted, when nothing of it runs. */
function rest(walk: Walk, node: RuntimeNode): void {
  node.stopping = undefined;
  switch (node.status.phase) {
    case NodePhase.Failing:
      fail(walk, node, node.status.error ?? { code: "Unknown", message: "Unknown error message" });
      return;
    case NodePhase.TimingOut:
      timeOut(walk, node);
      return;
    case NodePhase.RetryableFailure:
      scheduleRetry(walk, node);
      return;
    default:
      return;
  }
}
