import { NodePhase, TaskPhase } from "@flyte-ts/domain";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";
import { armsOf } from "../graph/arms.js";
import { NOT_BEGUN, type RuntimeNode } from "../graph/runtime.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { budgetsOf } from "../retry/budgets.js";
import { causeOf, decideRetry, type RetryDecision } from "../retry/decide.js";
import { changePhase, nextAttempt } from "../status/update-phase.js";
import { toMillis } from "../time/rfc3339.js";
import { forgetAll } from "./asking.js";
import { arm, sendFinalize } from "./attempt.js";
import { nextTurn } from "./caching.js";
import { dropOutputs } from "./outputs.js";
import { leave } from "./leave.js";
import type { Walk } from "./walk.js";

/** Decides whether the node's budgets permit another attempt after this error. */
export function retryAfter(walk: Walk, node: RuntimeNode, error: ExecutionErrorJson): RetryDecision {
  const spent = { attempt: node.attempt, systemFailures: node.status.systemFailures ?? 0 };
  return decideRetry(error, spent, budgetsOf(node.model, walk.templateOf(node), walk.config));
}

/** Marks a failed attempt that another follows; `ended` is false while it is still being aborted. */
export function noteRetryable(
  walk: Walk,
  node: RuntimeNode,
  error: ExecutionErrorJson,
  { ended, clean }: { ended: boolean; clean: boolean },
): void {
  const kept = walk.errors.take(error, node.status.error);
  const status = changePhase(node.status, { phase: NodePhase.RetryableFailure, message: error.message, error: kept, now: walk.now });
  if (causeOf(error) === "system") status.systemFailures = (status.systemFailures ?? 0) + 1;
  if (ended) status.TaskNodeStatus = { ...status.TaskNodeStatus, phase: TaskPhase.RetryableFailure, ...(clean ? { clean } : {}) };
  walk.setNode(node, status);
  walk.count("attemptRetried", { cause: causeOf(error) });
  walk.note("Warning", "NodeRetried", `node ${node.path}, attempt ${node.attempt}: ${error.code}: ${error.message}`);
  if (ended) scheduleRetry(walk, node);
}

/** Schedules the next attempt once nothing of the failed one runs; the time survives a restart. */
export function scheduleRetry(walk: Walk, node: RuntimeNode): void {
  node.retriedAt = walk.now;
  const delay = backoffDelay(walk.config.retryBackoff, node.attempt, walk.config.random);
  walk.setNode(node, { ...node.status, retryAt: toMillis(walk.now + delay) });
  arm(walk, node);
}

/** Starts the next attempt, of a task or of a whole graph below the node. */
export function startRetry(walk: Walk, node: RuntimeNode): void {
  if (node.inner !== undefined) leave(walk, node, node.inner);
  resetArms(walk, node);
  forgetAll(walk, node);
  node.child = "none";
  node.launched = false;
  node.expanded = false;
  node.deckUri = "";
  nextTurn(node);
  node.retriedAt ??= walk.now;
  node.attemptStartedAt = undefined;
  node.waitingSince = undefined;
  node.unconfirmed = false;
  const ended = node.attempt;
  walk.setNode(node, nextAttempt(node.status, walk.now));
  sendFinalize(walk, node, { attempt: ended, remove: true });
  walk.look(node);
}

/** A branch that starts again has chosen no arm yet. */
function resetArms(walk: Walk, node: RuntimeNode): void {
  for (const old of armsOf(node)) {
    if (old.status === NOT_BEGUN) continue;
    resetArms(walk, old);
    dropOutputs(walk, old);
    if (old.inner !== undefined) leave(walk, old, old.inner);
    if (old.settled) node.scope.unsettled++;
    walk.errors.give(old.status.error);
    old.reset();
    walk.setNode(old, NOT_BEGUN);
  }
}
