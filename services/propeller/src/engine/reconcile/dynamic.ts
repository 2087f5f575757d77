import { create } from "@bufbuild/protobuf";
import { NodePhase } from "@flyte-ts/domain/phase";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { DynamicWorkflow } from "../calls/dynamic.js";
import type { CallOutcome } from "../calls/call.js";
import { compiledUri, futuresUri } from "../graph/paths.js";
import { START_NODE } from "../graph/index-graph.js";
import { dynamicDepthOf, type RuntimeNode, type Scope } from "../graph/runtime.js";
import { onSubWorkflowEnded } from "../decide/sub-workflow.js";
import { dynamicWorkflowId } from "../messages/dynamic-workflow.js";
import { deckOfEnd } from "../status/end-status-fields.js";
import { changePhase } from "../status/update-phase.js";
import { scheduleTimers } from "../requests/requests.js";
import { resumeCache } from "../dependencies/cache.js";
import { call, cancelCall } from "../dependencies/calls.js";
import { restoreScope, resumeChildScope } from "../restore/restore.js";
import { writeOutputs } from "../data/outputs.js";
import { resyncScope } from "../state/resync.js";
import { enterScope, fitsInstanceLimit, tooManyInstances } from "../state/scope.js";
import { failNode, succeedNode } from "../lifecycle/end-node.js";
import { abortScope } from "../abort/abort.js";
import { publishNodeEvent } from "../events/publish-event.js";
import { PARENT_FINALIZED } from "../attempt/mark-dynamic.js";
import type { RunState } from "../state/run-state.js";

// A dynamic node is a task whose attempt ends with a spec of further nodes: the spec becomes a
// graph below it, and the node ends as that graph does.

// `dynamicNodeStatus.phase`
const EXECUTING = 1;

/** True when the graph must be read before the node can continue or be aborted. */
export function needsGraph({ status, childScope, abortReason }: RuntimeNode): boolean {
  // With the next attempt scheduled, the last one has ended.
  if (status.dynamicNodeStatus === undefined || childScope !== undefined || status.retryAt !== undefined) return false;
  // A graph that was never entered needs no abort.
  const goesOn = abortReason === undefined && status.phase !== NodePhase.RetryableFailure;
  return goesOn || status.dynamicNodeStatus.phase !== PARENT_FINALIZED;
}

/** Reads the graph and enters it; after a restart, with the stored statuses of its nodes. */
export function loadDynamicGraph(state: RunState, node: RuntimeNode): void {
  const { status } = node;
  const entered = status.dynamicNodeStatus?.phase !== PARENT_FINALIZED;
  if (!entered && dynamicDepthOf(node.scope) >= state.config.maxDynamicDepth) {
    failDynamicBuild(state, node, `[User] dynamic workflows are nested more than ${state.config.maxDynamicDepth} deep`);
    return;
  }
  const parent = state.templateOf(node);
  if (parent === undefined) return;
  const answer = call(state, node, {
    kind: "readDynamic",
    attemptDir: node.attemptDir,
    id: dynamicWorkflowId(state.model, node),
    execution: state.model.executionId,
    parent,
    options: state.model.options,
    compiledBefore: entered || node.readiness.maybeAheadOfStatus,
  });
  // An aborted node stores no outputs.
  const resumed = node.abortReason !== undefined || resumeCache(state, node) === "done";
  if (answer === undefined || !resumed) return;
  cancelCall(state, node, "readDynamic");
  if (answer.kind === "refused") onSpecRefused(state, node, answer);
  else enterDynamicGraph(state, node, answer.value);
}

/** Completes the abort of a node without its graph: nothing in the graph can be known. */
function onSpecRefused(
  state: RunState,
  node: RuntimeNode,
  { message }: Pick<Extract<CallOutcome<never>, { kind: "refused" }>, "message">,
): void {
  if (node.abortReason === undefined) {
    failDynamicBuild(state, node, message);
    return;
  }
  const { dynamicNodeStatus: _d, subNodeStatus: _s, ...status } = node.status;
  state.status.setNode(node, status);
  state.queues.enqueueNode(node);
}

function failDynamicBuild(state: RunState, node: RuntimeNode, message: string): void {
  failNode(state, node, { code: "DynamicWorkflowBuildFailed", kind: "USER", message });
}

function enterDynamicGraph(state: RunState, node: RuntimeNode, { model, closure }: DynamicWorkflow): void {
  const { abortReason } = node;
  if (!fitsInstanceLimit(state, model.root.nodes.size)) {
    onSpecRefused(state, node, tooManyInstances(state, model.root.nodes.size));
    return;
  }
  node.changeGraph().markDynamic();
  const subNodeStatus = state.status.takeChildStatuses(node);
  const failing = node.status.dynamicNodeStatus?.phase === 2 ? node.status.dynamicNodeStatus : undefined;
  if (abortReason === undefined && failing === undefined) {
    const next = changePhase(node.status, { phase: NodePhase.DynamicRunning, now: state.observation.now });
    state.status.setNode(node, { ...next, dynamicNodeStatus: { phase: EXECUTING } });
  }
  publishNodeEvent(
    state,
    node,

    {
      phase: NodeExecution_Phase.DYNAMIC_RUNNING,
      deckUri: deckOf(node),
      dynamic: { id: dynamicWorkflowId(state.model, node), compiledWorkflow: closure, dynamicJobSpecUri: futuresUri(node.attemptDir) },
      dynamicUri: closure === undefined ? compiledUri(node.attemptDir) : undefined,
    },
    "afterWrite",
  );
  const childScope = enterScope(state, model.root, node, model);
  // All external inputs of its nodes are bound in the graph itself.
  childScope.inputs = create(LiteralMapSchema);
  if (childScope.isInvalid) {
    failNode(state, node, { code: "MalformedDynamicWorkflow", kind: "SYSTEM", message: "no end-node found in dynamic workflow" });
    return;
  }
  if (subNodeStatus !== undefined) {
    restoreScope(state, childScope, subNodeStatus);
    node.changeGraph().setPersisted(childScope);
    if (failing !== undefined) {
      childScope.stage = "aborting";
      childScope.error = failing.error ?? { code: "DynamicNodeFailing", kind: "UNKNOWN", message: failing.reason ?? "" };
    }
    resumeChildScope(state, childScope);
  }
  if (abortReason !== undefined) {
    abortScope(state, childScope, abortReason);
    state.queues.enqueueNode(node);
    return;
  }
  const start = childScope.nodes.get(START_NODE);
  if (subNodeStatus !== undefined) resyncScope(state.queues, childScope);
  else if (start !== undefined) state.queues.enqueueNode(start);
  state.queues.enqueueScope(childScope);
  scheduleTimers(state, node);
}

/**
 * End of the graph: its outputs become the node's. They are written to the node's outputs location,
 * which the attempt, having ended without outputs, names.
 */
export function finishDynamic(state: RunState, node: RuntimeNode, childScope: Scope): void {
  const decision = onSubWorkflowEnded(node, childScope);
  const deckUri = deckOf(node);
  if (decision.kind === "fail") {
    failNode(state, node, decision.error, { deckUri });
    return;
  }
  if (decision.kind !== "succeed") return;
  const { outputs } = decision;
  if (outputs === undefined || childScope.graph.outputBindings.length === 0) {
    succeedNode(state, node, { outputs: undefined, deckUri });
    return;
  }
  const value = outputs.value ?? state.blobReads.outputs(outputs.uri);
  if (value === undefined) {
    requestOutputs(state, node, outputs.uri);
    return;
  }
  state.blobReads.unsubscribe(node);
  writeOutputs(state, node, value, { value, deckUri, cleanup: false });
}

function deckOf({ status, attemptDir }: RuntimeNode): string {
  return deckOfEnd(status, attemptDir) ?? "";
}

function requestOutputs(state: RunState, node: RuntimeNode, uri: string): void {
  const lost = state.blobReads.failureReason(uri);
  if (lost !== undefined) {
    failNode(state, node, { code: "OutputsNotFound", kind: "SYSTEM", message: `Failed to copy subworkflow outputs: ${lost}` });
    return;
  }
  const effect = state.blobReads.request(node, "outputs", uri);
  if (effect !== undefined) state.effects.emit(effect);
}
