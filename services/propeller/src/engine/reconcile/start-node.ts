import { NodePhase } from "@flyte-ts/domain/phase";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { GraphModel } from "@flyte-ts/workflow-crd";
import { outputsUri } from "../graph/paths.js";
import { mayBeChosen } from "../graph/arms.js";
import { START_NODE } from "../graph/index-graph.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { decideStart } from "../decide/node-start.js";
import type { NodeDecision } from "../decide/decision.js";
import { takesSlot } from "../policy/parallelism.js";
import { changePhase } from "../status/update-phase.js";
import { ARRAY_EXECUTING, arrayStatus, enterArrayScope } from "../lifecycle/reconcile-array.js";
import { inputsFileContents, inputLocation, inlineEventInputs, storesInputsFile } from "../data/input-location.js";
import { publishArrayQueued } from "../events/item-events.js";
import { scheduleTimers } from "../requests/requests.js";
import { awaitSignal } from "./signal.js";
import { lookUpCache } from "../dependencies/cache.js";
import { reconcileChild } from "./child-execution.js";
import { graphInputsOf, resolveInputs } from "../data/outputs.js";
import { checkRecovery } from "../dependencies/recovery.js";
import { markRunning, succeedAfterWrite } from "../lifecycle/mark-running.js";
import { requestRunWhenReserved } from "./request-run.js";
import { enterScope, fitsInstanceLimit, tooManyInstances } from "../state/scope.js";
import { failNode, skipNode, succeedNode } from "../lifecycle/end-node.js";
import { markStarted, enqueueStart } from "../state/scheduler.js";
import { publishNodeEvent } from "../events/publish-event.js";
import type { RunState } from "../state/run-state.js";

/** Skips or starts a node that has not started, or leaves it waiting. */
export function tryStart(state: RunState, node: RuntimeNode): void {
  // Items start as their array has capacity.
  if (node.scope.array !== undefined) return;
  if (!isReady(node)) {
    node.readiness.addMaybeStarted(
      state.observation.priorStartPossibleFor(node) &&
        node.readiness.pendingUpstream === 0 &&
        node.readiness.unsuccessfulUpstream === 0 &&
        mayBeChosen(node),
    );
    return;
  }
  node.readiness.markReady(state.observation.seq);
  if (node.readiness.unsuccessfulUpstream > 0) {
    node.scope.blockedByFailure ||= isLastPossibleEnd(node.scope);
    // When nothing in the graph can progress, it fails without publishing the nodes never reached,
    // as in Go Flyte; a graph that continues publishes skipped nodes.
    if (!node.scope.blockedByFailure) skipNode(state, node, true);
    return;
  }
  // Tasks start after all other nodes are reconciled: by then failures and the order of starts are
  // known.
  if (takesSlot(node, state.config.arrayParallelism)) enqueueStart(state, node);
  else startNode(state, node);
}

/**
 * True when a failure was the last possible event of the graph: no node runs, and none can start.
 */
function isLastPossibleEnd({ lastEndedFailed, activeNodes, nodes }: Scope): boolean {
  if (!lastEndedFailed || activeNodes > 0) return false;
  for (const { ended, branch, readiness } of nodes.values()) {
    if (!ended && branch === undefined && readiness.pendingUpstream === 0 && readiness.unsuccessfulUpstream === 0) return false;
  }
  return true;
}

/** All dependencies have ended; an arm must also be the chosen one. */
function isReady(node: RuntimeNode): boolean {
  const { scope } = node;
  if (node === scope.failureNode) return scope.stage === "handlingFailure";
  if (scope.stage !== "running" || node.readiness.pendingUpstream > 0) return false;
  // The graph is about to abort: skipped nodes are not published.
  if (scope.hasFailure && scope.policy === "stopAtOnce") return false;
  return node.branch === undefined || (node.branch.status.branchStatus?.finalNodeId === node.id && node.branch.abortReason === undefined);
}

/** Takes a slot and proceeds as far as inputs are known. */
export function startNode(state: RunState, node: RuntimeNode): void {
  markStarted(state, node);
  // A dependent of a node that may have ended before a restart may also have started before it.
  node.readiness.setMaybeAheadOfStatus(state.observation.priorStartPossibleFor(node) || node.readiness.maybeStarted);
  // Starts of items do not follow from the observation alone, so their effects wait for the status.
  if (node.scope.array !== undefined) state.observation.stopSpeculation();
  state.effects.metric("nodeStarted", { kind: node.model.target.kind });
  bindInputs(state, node);
}

/** Binds the inputs; called again when missing blobs have been read. */
export function bindInputs(state: RunState, node: RuntimeNode): void {
  // The inputs are bound already; the node waits for calls.
  if (node.data.inputs !== undefined) {
    checkCachesAndQueue(state, node, node.data.inputs);
    return;
  }
  const isStart = node.model.target.kind === "start";
  const bound = isStart ? graphInputsOf(state, node) : resolveInputs(state, node);
  if (bound.kind === "waiting") {
    node.readiness.addMaybeStarted(state.observation.priorStartPossibleFor(node));
    return;
  }
  state.blobReads.unsubscribe(node);
  if (bound.kind === "error") {
    state.effects.metric("bindingFailed");
    failNode(state, node, bound.error);
    return;
  }
  if (isStart) {
    applyDecision(state, node, decideStart(node, bound.inputs));
    return;
  }
  const { inputs } = bound;
  node.changeData().setInputs(inputs);
  const place = inputLocation(state, node, inputs);
  if (place === "file" || (place === "message" && storesInputsFile(state, node))) {
    writeInputs(state, node, inputs);
    return;
  }
  const inArrayFile = place === "arrayFile";
  node.changeData().setInputLocation({ inBlobStore: inArrayFile, inArrayFile });
  checkCachesAndQueue(state, node, inputs);
}

/** Writes inputs too large for messages to the blob store before any effect refers to them. */
function writeInputs(state: RunState, node: RuntimeNode, inputs: LiteralMap): void {
  const uris = [node.inputsUri, ...(node.model.target.kind === "end" ? [outputsUri(node.attemptDir)] : [])];
  for (const uri of uris) state.effects.emit(state.blobWrites.start(node, uri, inputsFileContents(node, inputs)));
}

/**
 * Continues once the inputs are bound and, if necessary, written. Called again for each call result
 * needed before the start.
 */
export function checkCachesAndQueue(state: RunState, node: RuntimeNode, inputs: LiteralMap): void {
  const prior = checkRecovery(state, node, inputs);
  if (prior.kind === "wait") {
    node.readiness.addMaybeStarted(state.observation.priorStartPossibleFor(node));
    return;
  }
  if (prior.kind === "reuse") {
    succeedAfterWrite(state, node, prior.success);
    return;
  }
  const cached = lookUpCache(state, node, inputs);
  switch (cached.kind) {
    case "wait":
      node.readiness.addMaybeStarted(state.observation.priorStartPossibleFor(node));
      return;
    case "hit":
      succeedAfterWrite(state, node, cached.success);
      return;
    case "proceed":
      break;
  }
  const timing = state.observation.effectTimingFor(node);
  node.changeAttempt().queued(state.observation.now);
  const checkpoint =
    node.calls.priorCheckpointUri === undefined ? {} : { TaskNodeStatus: { checkpointPath: node.calls.priorCheckpointUri } };
  state.status.setNode(node, {
    ...changePhase(node.status, { phase: NodePhase.Queued, message: "node queued", now: state.observation.now }),
    ...checkpoint,
  });
  publishNodeEvent(
    state,
    node,
    { phase: NodeExecution_Phase.QUEUED, inputs: inlineEventInputs(state, node), cache: node.calls.cache },
    timing,
  );
  applyDecision(state, node, decideStart(node, inputs));
}

/** Executes a handler's decision. */
export function applyDecision(state: RunState, node: RuntimeNode, decision: NodeDecision): void {
  switch (decision.kind) {
    case "request":
      requestRunWhenReserved(state, node, { timing: state.observation.effectTimingFor(node), maybeRunning: false });
      return;
    case "succeed":
      succeedAfterWrite(state, node, decision);
      return;
    case "fail":
      failNode(state, node, decision.error);
      return;
    case "take":
      runArm(state, node, decision);
      return;
    case "enter":
      enterSubWorkflow(state, node, decision.graph);
      return;
    case "enterArray":
      enterArray(state, node, decision.size);
      return;
    case "sleep":
      waitUntilGateOpens(state, node, decision.durationMs);
      return;
    case "launch":
      reconcileChild(state, node, decision.launchPlan);
      return;
    case "awaitSignal":
      awaitSignal(state, node, decision);
      return;
    case "wait":
      return;
  }
}

/** Ends the gate when its duration has passed. Called again at that time. */
function waitUntilGateOpens(state: RunState, node: RuntimeNode, durationMs: number): void {
  if (node.currentAttempt.startedAt === undefined) markRunning(state, node, { gateNodeStatus: { phase: 1 } });
  const opensAt = (node.currentAttempt.startedAt ?? state.observation.now) + durationMs;
  node.changeAttempt().sleepUntil(opensAt);
  if (opensAt <= state.observation.now) succeedNode(state, node, { outputs: undefined });
  else scheduleTimers(state, node);
}

function runArm(state: RunState, node: RuntimeNode, { arm: taken, skipped }: Extract<NodeDecision, { kind: "take" }>): void {
  markRunning(state, node, { branchStatus: { phase: 1, finalNodeId: taken } });
  for (const id of skipped) {
    const other = node.scope.nodes.get(id);
    if (other !== undefined && !other.ended) skipNode(state, other, false);
  }
  const chosen = node.scope.nodes.get(taken);
  if (chosen === undefined) {
    failNode(state, node, {
      code: "DownstreamNodeNotFound",
      kind: "SYSTEM",
      message: `Branch downstream finalized node not found. FinalizedNode [${taken}]`,
    });
    return;
  }
  state.status.setNode(chosen, { ...chosen.status, parentNode: node.id });
  state.queues.enqueueNode(chosen);
}

function enterArray(state: RunState, node: RuntimeNode, size: number): void {
  if (!fitsInstanceLimit(state, size)) {
    failNode(state, node, tooManyInstances(state, size));
    return;
  }
  const childScope = enterArrayScope(state, node, size);
  if (childScope.array === undefined) return;
  markRunning(state, node, { arrayNodeStatus: arrayStatus(state, childScope, childScope.array, ARRAY_EXECUTING) });
  publishArrayQueued(state, node, childScope.array);
  state.queues.enqueueScope(childScope);
}

function enterSubWorkflow(state: RunState, node: RuntimeNode, graph: GraphModel): void {
  if (!fitsInstanceLimit(state, graph.nodes.size)) {
    failNode(state, node, tooManyInstances(state, graph.nodes.size));
    return;
  }
  markRunning(state, node, { workflowNodeStatus: { phase: 1 } });
  const childScope = enterScope(state, graph, node);
  const first = childScope.nodes.get(START_NODE);
  if (first === undefined || childScope.isInvalid) {
    failNode(state, node, {
      code: "BadSpecificationError",
      kind: "SYSTEM",
      message: `sub-workflow [${graph.id}] has no path from its start to its end`,
    });
    return;
  }
  state.queues.enqueueNode(first);
}
