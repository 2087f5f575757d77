import { isTerminalNode, isTerminalWorkflow, nodeEventPhase, NodePhase, TaskPhase, WorkflowPhase } from "@flyte-ts/domain";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd";
import { armsOf } from "../graph/arms.js";
import { END_NODE } from "../graph/index-graph.js";
import { NOT_BEGUN, type RuntimeNode, type Scope } from "../graph/runtime.js";
import { SUB_WORKFLOW_FAILING } from "../status/update-phase.js";
import { fromRfc3339, latestOf, toldAgainAt } from "../time/rfc3339.js";
import { itemIndex } from "../array/items.js";
import { MAX_ERROR_MESSAGE } from "../failure/bound-message.js";
import { errorFromPlain } from "../failure/error-json.js";
import { addItem, ARRAY_FAILING, countRestored, enterArrayScope } from "./array.js";
import { noteItem } from "./array-news.js";
import { arm } from "./attempt.js";
import { decodeOutputs, needed, releaseSources } from "./outputs.js";
import { addFailureNode, enterScope, rootScope } from "./scope.js";
import { leaveOut, releaseSlot, tellAborted } from "./settle.js";
import { begin } from "./slots.js";
import { ABORT_REASON, innerReason, ROOT_REASON, stopNode, stopScope } from "./stop.js";
import { tellProgressAgain, tellRecentEnds } from "./tell-again.js";
import { waitingRestored } from "./waiting-attempt.js";
import type { Walk } from "./walk.js";
import { tellEnd } from "./workflow.js";

type Statuses = Readonly<Record<string, NodeStatus>>;

/** Builds the run state from a stored status, possibly of another process. */
export function restore(walk: Walk, status: WorkflowStatus): void {
  walk.root = rootScope(walk);
  restoreScope(walk, walk.root, status.nodeStatus ?? {});
  walk.goesAhead = status.phase !== WorkflowPhase.Ready;
  const { root } = walk;
  if (status.error !== undefined) root.error = status.error;
  if (status.failedNode !== undefined) root.failedNode = status.failedNode;
  if (status.phase === WorkflowPhase.Failing) root.stage = "stop";
  else if (status.phase === WorkflowPhase.HandlingFailureNode) {
    root.stage = "handle";
    if (root.failureNode === undefined && root.graph.onFailure !== undefined) addFailureNode(root, root.graph.onFailure);
  } else if (isTerminalWorkflow(status.phase)) root.stage = "done";
}

export function restoreScope(walk: Walk, scope: Scope, statuses: Statuses): void {
  for (const [id, status] of Object.entries(statuses)) {
    const node = scope.nodes.get(id) ?? failureNodeOf(scope, id);
    if (node === undefined) continue;
    node.status = status;
    node.written = status;
  }
  for (const node of scope.nodes.values()) if (node.status !== NOT_BEGUN) restoreNode(walk, node);
  for (const node of scope.nodes.values()) {
    if (node.succeeded || (node.begun && node.id === END_NODE)) presumeAbove(node);
    if (!node.settled) continue;
    releaseSources(walk, node);
    // An arm that had not started when its branch was aborted left no trace.
    for (const idle of armsOf(node)) if (!idle.settled && !idle.begun) leaveOut(idle);
  }
}

/** Marks ancestors as possibly succeeded: an interrupted abort may have hidden their end, and dependents may have started. */
function presumeAbove(node: RuntimeNode): void {
  const above = node.branch ?? (node.id === END_NODE ? node.scope.owner : undefined);
  if (above === undefined || above.terminal) return;
  above.presumed = true;
  presumeAbove(above);
}

function failureNodeOf(scope: Scope, id: string): RuntimeNode | undefined {
  const model = scope.graph.onFailure;
  return model?.id === id ? addFailureNode(scope, model) : undefined;
}

function restoreNode(walk: Walk, node: RuntimeNode): void {
  const { status, scope } = node;
  walk.errors.hold(status.error);
  if (isTerminalNode(status.phase)) {
    node.settled = true;
    node.endedAt = latestOf(status.stoppedAt);
    if (node !== scope.failureNode) scope.unsettled--;
    if (node.failed && node.branch === undefined) {
      scope.anyFailed = true;
      if (scope.failedNode === "") scope.failedNode = node.id;
    }
    retain(walk, node);
    keep(walk, node.status.subNodeStatus ?? {});
    // A recovered node started no child, or names the child of the recovered execution.
    node.launched = status.phase === NodePhase.Succeeded && node.model.target.kind === "launchPlan";
    return;
  }
  // A chosen arm has a status before it starts.
  if (status.phase === NodePhase.NotYetStarted) return;
  begin(walk, node);
  node.unconfirmed = true;
  node.queuedAt = latestOf(status.queuedAt);
  node.attemptStartedAt = latestOf(status.laStartedAt);
  node.retriedAt = node.attempt > 0 ? latestOf(status.lastUpdatedAt) : undefined;
  node.child = childOf(node);
  // Nodes below it are known once its graph has been read again.
  if (status.dynamicNodeStatus !== undefined) releaseSlot(walk, node);
  node.launched = node.child === "made";
  if (node.model.target.kind === "subWorkflow") restoreInner(walk, node, node.model.target.workflow);
  else if (node.model.target.kind === "array") restoreArray(walk, node);
}

/** A child may exist as soon as the node was queued; one being terminated may still run. */
function childOf({ model, status }: RuntimeNode): RuntimeNode["child"] {
  if (model.target.kind !== "launchPlan" || status.retryAt !== undefined) return "none";
  return status.workflowNodeStatus === undefined ? "asked" : "made";
}

function retain(walk: Walk, node: RuntimeNode): void {
  if (node.status.outputs === undefined) return;
  const bytes = Buffer.byteLength(node.status.outputs, "base64");
  if (!needed(node)) {
    walk.keptBytes += bytes;
    return;
  }
  walk.retained.set(node, bytes);
  walk.retainedBytes += bytes;
  // The parent node may be about to pass them on.
  if (node.branch !== undefined || node.id === END_NODE) node.outputs = decodeOutputs(node.status.outputs);
}

/** Statuses below ended nodes count against the same limits as before the restart. */
function keep(walk: Walk, statuses: Statuses): void {
  for (const { outputs, subNodeStatus } of Object.values(statuses)) {
    walk.keptNodes++;
    if (outputs !== undefined) walk.keptBytes += Buffer.byteLength(outputs, "base64");
    if (subNodeStatus !== undefined) keep(walk, subNodeStatus);
  }
}

function restoreInner(walk: Walk, node: RuntimeNode, reference: string): void {
  const graph = node.scope.definitions.subWorkflows.get(reference);
  const { subNodeStatus, workflowNodeStatus } = node.status;
  if (graph === undefined || (subNodeStatus === undefined && workflowNodeStatus === undefined)) return;
  const inner = enterScope(walk, graph, node);
  restoreScope(walk, inner, subNodeStatus ?? {});
  node.innerWritten = subNodeStatus === undefined ? undefined : inner;
  if (workflowNodeStatus?.phase !== SUB_WORKFLOW_FAILING) return;
  const { executionError } = workflowNodeStatus;
  inner.error = executionError === undefined ? { code: "SubworkflowNodeFailing", message: "" } : errorFromPlain(executionError);
  inner.stage = inner.failureNode === undefined ? "stop" : "handle";
}

/** Restores the items of an entered array; those without a status have not started. */
function restoreArray(walk: Walk, node: RuntimeNode): void {
  const { arrayNodeStatus, subNodeStatus } = node.status;
  const attempts = arrayNodeStatus?.subattempts;
  // An empty array has no counts.
  const size = attempts && (attempts.count ?? 0);
  if (arrayNodeStatus === undefined || size === undefined) return;
  const inner = enterArrayScope(walk, node, size);
  const { array } = inner;
  if (array === undefined) return;
  for (const id of Object.keys(subNodeStatus ?? {})) addItem(inner, array, itemIndex(id));
  restoreScope(walk, inner, subNodeStatus ?? {});
  node.innerWritten = subNodeStatus === undefined ? undefined : inner;
  for (const item of inner.nodes.values()) {
    countRestored(item, array);
    if (item.settled) noteItem(walk, item, nodeEventPhase(item.status.phase));
  }
  if (arrayNodeStatus.phase !== ARRAY_FAILING) return;
  const { executionError } = arrayNodeStatus;
  inner.error = executionError === undefined ? array.failures.error(MAX_ERROR_MESSAGE) : errorFromPlain(executionError);
  inner.stage = "stop";
}

/** Follows `restore`: resends requests to run or abort, and republishes events that may have been lost. */
export function revive(walk: Walk): void {
  if (isTerminalWorkflow(walk.status.phase)) {
    forgetAllStopped(walk, walk.root, { reason: walk.status.phase === WorkflowPhase.Aborted ? ABORT_REASON : ROOT_REASON });
    tellRecentEnds(walk);
    if (walk.finishing === "no") tellEnd(walk, "held");
    return;
  }
  forgetWhatStopped(walk, walk.root);
  walk.tell.workflow(walk.status.phase as WorkflowPhase, tellFacts(walk), "now");
  reviveScope(walk, walk.root);
  tellRecentEnds(walk);
  if (walk.root.stage === "stop") stopScope(walk, walk.root, ROOT_REASON);
}

/** Resumes a graph that was restored later than the others. */
export function reviveInner(walk: Walk, scope: Scope): void {
  forgetWhatStopped(walk, scope);
  reviveScope(walk, scope);
}

function tellFacts(walk: Walk) {
  const { phase, startedAt, lastUpdatedAt, error } = walk.status;
  if (phase === WorkflowPhase.Running) return { occurredAt: toldAgainAt(startedAt, walk.now) ?? walk.now };
  return { occurredAt: toldAgainAt(lastUpdatedAt, walk.now) ?? walk.now, error };
}

function reviveScope(walk: Walk, scope: Scope): void {
  for (const node of scope.nodes.values()) {
    if (node.settled || !node.begun) continue;
    if (node.inner !== undefined) reviveScope(walk, node.inner);
    tellProgressAgain(walk, node);
    reviveNode(walk, node);
  }
  if (scope.owner !== undefined && scope.stage === "stop") stopScope(walk, scope, innerReason(scope.owner));
  walk.lookAt(scope);
}

function reviveNode(walk: Walk, node: RuntimeNode): void {
  const { status } = node;
  switch (status.phase) {
    case NodePhase.Failing:
    case NodePhase.TimingOut:
      stopAgain(walk, node);
      return;
    case NodePhase.RetryableFailure:
      if (status.retryAt === undefined) stopAgain(walk, node);
      else node.retriedAt = latestOf(status.lastUpdatedAt);
      break;
    default:
      break;
  }
  waitingRestored(walk, node);
  arm(walk, node);
  walk.look(node);
}

/** Ends nodes that were aborted and published so, but whose stored phase still says running. */
function forgetWhatStopped(walk: Walk, scope: Scope): void {
  // While the failure node runs, all others are aborted.
  if (scope.stage === "handle") {
    const reason = scope.owner === undefined ? ROOT_REASON : innerReason(scope.owner);
    forgetAllStopped(walk, scope, { reason, except: scope.failureNode });
  }
  for (const node of scope.nodes.values()) {
    if (node.settled || !node.begun) continue;
    const { status } = node;
    const aborted = status.TaskNodeStatus?.phase === TaskPhase.Aborted && status.phase !== NodePhase.RetryableFailure;
    // An arm that was aborted with its branch, which has ended otherwise.
    const left = node.branch?.settled === true;
    if (node.inner !== undefined) {
      if (left) forgetAllStopped(walk, node.inner, { reason: innerReason(node) });
      else forgetWhatStopped(walk, node.inner);
    }
    if (aborted || left) forgetStopped(walk, node);
  }
}

/** Ends all aborted nodes of a graph: they keep their phase; the status of the graph shows that they have ended. */
function forgetAllStopped(walk: Walk, scope: Scope, { reason, except }: { reason: string; except?: RuntimeNode | undefined }): void {
  for (const node of scope.nodes.values()) {
    if (node.settled || !node.begun || node === except) continue;
    if (node.inner !== undefined) forgetAllStopped(walk, node.inner, { reason });
    tellAborted(walk, node, reason, "now");
    forgetStopped(walk, node);
  }
}

/** Ends a node that its parent aborted. */
function forgetStopped(walk: Walk, node: RuntimeNode): void {
  node.settled = true;
  node.endedAt = fromRfc3339(node.status.TaskNodeStatus?.updAt);
  node.scope.live--;
  if (node !== node.scope.failureNode) node.scope.unsettled--;
  walk.activeNodes--;
  releaseSlot(walk, node);
}

/** Repeats the abort that a deadline caused before the restart. */
function stopAgain(walk: Walk, node: RuntimeNode): void {
  stopNode(walk, node, node.status.message ?? "");
  arm(walk, node);
}
