import { NodePhase } from "@flyte-ts/domain";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { GraphModel } from "@flyte-ts/workflow-crd";
import { outputsUri } from "../data/paths.js";
import { mayBeTaken } from "../graph/arms.js";
import { START_NODE } from "../graph/index-graph.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { decideBegin } from "../handler/begin.js";
import type { NodeDecision } from "../handler/decision.js";
import { takesSlot } from "../parallelism/decide.js";
import { changePhase } from "../status/update-phase.js";
import { ARRAY_EXECUTING, arrayStatus, enterArrayScope } from "./array.js";
import { fileOf, inputPlace, inputsBeside, storesInputs } from "./input-place.js";
import { tellEntered } from "./array-news.js";
import { arm } from "./attempt.js";
import { awaitSignal } from "./await-signal.js";
import { lookUp } from "./caching.js";
import { launch } from "./launch.js";
import { graphInputsOf, inputsOf } from "./outputs.js";
import { lookBack } from "./recovering.js";
import { running, succeedWithOutputs } from "./progress.js";
import { requestRun } from "./request-run.js";
import { enterScope, hasRoomFor, tooManyInstances } from "./scope.js";
import { fail, skip, succeed } from "./settle.js";
import { begin, waitForRoom } from "./slots.js";
import type { Walk } from "./walk.js";

/** Skips or starts a node that has not started, or leaves it waiting. */
export function consider(walk: Walk, node: RuntimeNode): void {
  // Items start as their array has capacity.
  if (node.scope.array !== undefined) return;
  if (!readyToDecide(node)) {
    node.maybeBegun ||= walk.doubts(node) && node.unfinished === 0 && node.spoiled === 0 && mayBeTaken(node);
    return;
  }
  if (node.readySeq < 0) node.readySeq = walk.seq;
  if (node.spoiled > 0) {
    node.scope.exhausted ||= endsHere(node.scope);
    // When nothing in the graph can progress, it fails without publishing the nodes never reached, as in Go Flyte; a
    // graph that continues publishes skipped nodes.
    if (!node.scope.exhausted) skip(walk, node, true);
    return;
  }
  // Tasks start after all other nodes are reconciled: by then failures and the order of starts are known.
  if (takesSlot(node, walk.config.arrayParallelism)) waitForRoom(walk, node);
  else start(walk, node);
}

/** True when a failure was the last possible event of the graph: no node runs, and none can start. */
function endsHere({ lastEndFailed, live, nodes }: Scope): boolean {
  if (!lastEndFailed || live > 0) return false;
  for (const { settled, branch, unfinished, spoiled } of nodes.values()) {
    if (!settled && branch === undefined && unfinished === 0 && spoiled === 0) return false;
  }
  return true;
}

/** All dependencies have ended; an arm must also be the chosen one. */
function readyToDecide(node: RuntimeNode): boolean {
  const { scope } = node;
  if (node === scope.failureNode) return scope.stage === "handle";
  if (scope.stage !== "run" || node.unfinished > 0) return false;
  // The graph is about to abort: skipped nodes are not published.
  if (scope.anyFailed && scope.policy === "stopAtOnce") return false;
  return node.branch === undefined || (node.branch.status.branchStatus?.finalNodeId === node.id && node.branch.stopping === undefined);
}

/** Takes a slot and proceeds as far as inputs are known. */
export function start(walk: Walk, node: RuntimeNode): void {
  begin(walk, node);
  // A dependent of a node that may have ended before a restart may also have started before it.
  node.unconfirmed = walk.doubts(node) || node.maybeBegun;
  // Starts of items do not follow from the observation alone, so their effects wait for the status.
  if (node.scope.array !== undefined) walk.prompt = false;
  walk.count("nodeStarted", { kind: node.model.target.kind });
  prepare(walk, node);
}

/** Binds the inputs; called again when missing blobs have been read. */
export function prepare(walk: Walk, node: RuntimeNode): void {
  // Already bound; since then it waits for calls.
  if (node.inputs !== undefined) {
    proceed(walk, node, node.inputs);
    return;
  }
  const isStart = node.model.target.kind === "start";
  const bound = isStart ? graphInputsOf(walk, node) : inputsOf(walk, node);
  if (bound.kind === "waiting") {
    node.maybeBegun ||= walk.doubts(node);
    return;
  }
  walk.blobs.release(node);
  if (bound.kind === "error") {
    walk.count("bindingFailed");
    fail(walk, node, bound.error);
    return;
  }
  if (isStart) {
    apply(walk, node, decideBegin(node, bound.inputs));
    return;
  }
  node.inputs = bound.inputs;
  const place = inputPlace(walk, node, node.inputs);
  if (place === "file" || (place === "message" && storesInputs(walk, node))) {
    writeInputs(walk, node, node.inputs);
    return;
  }
  node.inputsWritten = node.sharesInputs = place === "arrayFile";
  proceed(walk, node, node.inputs);
}

/** Writes inputs too large for messages to the blob store before any effect refers to them. */
function writeInputs(walk: Walk, node: RuntimeNode, inputs: LiteralMap): void {
  node.writes = new Set([node.inputsUri]);
  if (node.model.target.kind === "end") node.writes.add(outputsUri(node.attemptDir));
  for (const uri of node.writes) walk.writeBlob(node, uri, fileOf(node, inputs));
}

/** Continues once the inputs are bound and, if necessary, written. Called again for each call result needed before the start. */
export function proceed(walk: Walk, node: RuntimeNode, inputs: LiteralMap): void {
  const former = lookBack(walk, node, inputs);
  if (former.kind === "wait") {
    node.maybeBegun ||= walk.doubts(node);
    return;
  }
  if (former.kind === "reuse") {
    succeedWithOutputs(walk, node, former.success);
    return;
  }
  const cached = lookUp(walk, node, inputs);
  switch (cached.kind) {
    case "wait":
      node.maybeBegun ||= walk.doubts(node);
      return;
    case "hit":
      succeedWithOutputs(walk, node, cached.success);
      return;
    case "goOn":
      break;
  }
  const release = walk.releaseOf(node);
  node.queuedAt = walk.now;
  const checkpoint = node.formerCheckpoint === undefined ? {} : { TaskNodeStatus: { checkpointPath: node.formerCheckpoint } };
  walk.setNode(node, { ...changePhase(node.status, { phase: NodePhase.Queued, message: "node queued", now: walk.now }), ...checkpoint });
  walk.tell.node(node, NodeExecution_Phase.QUEUED, { inputs: inputsBeside(walk, node), cache: node.cache }, release);
  apply(walk, node, decideBegin(node, inputs));
}

/** Executes a handler's decision. */
export function apply(walk: Walk, node: RuntimeNode, decision: NodeDecision): void {
  switch (decision.kind) {
    case "request":
      requestRun(walk, node, { release: walk.releaseOf(node), mayRun: false });
      return;
    case "succeed":
      succeedWithOutputs(walk, node, decision);
      return;
    case "fail":
      fail(walk, node, decision.error);
      return;
    case "take":
      take(walk, node, decision);
      return;
    case "enter":
      enter(walk, node, decision.graph);
      return;
    case "enterArray":
      enterArray(walk, node, decision.size);
      return;
    case "sleep":
      sleep(walk, node, decision.durationMs);
      return;
    case "launch":
      launch(walk, node, decision.launchPlan);
      return;
    case "awaitSignal":
      awaitSignal(walk, node, decision);
      return;
    case "wait":
      return;
  }
}

/** Called again when the time may have passed. */
function sleep(walk: Walk, node: RuntimeNode, durationMs: number): void {
  if (node.status.phase !== NodePhase.Running) running(walk, node, { gateNodeStatus: { phase: 1 } });
  node.sleepsUntil = (node.attemptStartedAt ?? walk.now) + durationMs;
  if (node.sleepsUntil <= walk.now) succeed(walk, node, { outputs: undefined });
  else arm(walk, node);
}

function take(walk: Walk, node: RuntimeNode, { arm: taken, skipped }: Extract<NodeDecision, { kind: "take" }>): void {
  running(walk, node, { branchStatus: { phase: 1, finalNodeId: taken } });
  for (const id of skipped) {
    const other = node.scope.nodes.get(id);
    if (other !== undefined && !other.settled) skip(walk, other, false);
  }
  const chosen = node.scope.nodes.get(taken);
  if (chosen === undefined) {
    fail(walk, node, {
      code: "DownstreamNodeNotFound",
      kind: "SYSTEM",
      message: `Branch downstream finalized node not found. FinalizedNode [${taken}]`,
    });
    return;
  }
  walk.setNode(chosen, { ...chosen.status, parentNode: node.id });
  walk.look(chosen);
}

function enterArray(walk: Walk, node: RuntimeNode, size: number): void {
  if (!hasRoomFor(walk, size)) {
    fail(walk, node, tooManyInstances(walk, size));
    return;
  }
  const inner = enterArrayScope(walk, node, size);
  if (inner.array === undefined) return;
  running(walk, node, { arrayNodeStatus: arrayStatus(walk, inner, inner.array, ARRAY_EXECUTING) });
  tellEntered(walk, node, inner.array);
  walk.lookAt(inner);
}

function enter(walk: Walk, node: RuntimeNode, graph: GraphModel): void {
  if (!hasRoomFor(walk, graph.nodes.size)) {
    fail(walk, node, tooManyInstances(walk, graph.nodes.size));
    return;
  }
  running(walk, node, { workflowNodeStatus: { phase: 1 } });
  const inner = enterScope(walk, graph, node);
  const first = inner.nodes.get(START_NODE);
  if (first === undefined || inner.broken) {
    fail(walk, node, {
      code: "BadSpecificationError",
      kind: "SYSTEM",
      message: `sub-workflow [${graph.id}] has no way from its start to its end`,
    });
    return;
  }
  walk.look(first);
}
