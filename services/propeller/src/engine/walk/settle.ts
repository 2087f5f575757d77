import { create } from "@bufbuild/protobuf";
import { NodePhase, nodeEventPhase } from "@flyte-ts/domain";
import { CatalogCacheStatus, CatalogReservation_Status as Reservation } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";
import { checkpointUri, outputsUri } from "../data/paths.js";
import { armsOf } from "../graph/arms.js";
import { START_NODE } from "../graph/index-graph.js";
import type { FormerNode } from "../recovery/questions.js";
import type { NodeEventDetails } from "../event/node-event.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeOutputs } from "../handler/decision.js";
import { promisesNothing } from "../handler/task.js";
import { childExecutionId } from "../request/child-execution.js";
import { rawOutputsOf } from "../request/task-request.js";
import { endFacts, toldCache, toldDeck, type ToldEnd } from "../status/end-facts.js";
import { changePhase } from "../status/update-phase.js";
import { toldAgainAt } from "../time/rfc3339.js";
import { closeArray, itemEnded } from "./array.js";
import { tellArrayEnd } from "./array-news.js";
import { forgetAll } from "./asking.js";
import { releaseReservation } from "./caching.js";
import { keptOutputs, releaseSources, retainOutputs } from "./outputs.js";
import { leaveEnded } from "./leave.js";
import type { Release, Walk } from "./walk.js";
import { TIMED_OUT } from "../failure/timed-out.js";

export interface Success {
  readonly outputs: NodeOutputs | undefined;
  readonly deckUri?: string;
}

/** A node's good end: outputs kept for its consumers, those that wait for it looked at. */
export function succeed(walk: Walk, node: RuntimeNode, { outputs: given, deckUri }: Success): void {
  const { recovered } = node;
  // As Go Flyte has it: a node that names outputs and gave none gave an empty map. No blob stands at the address that its event names.
  const outputs = given ?? (namesOutputs(node) ? { value: create(LiteralMapSchema), uri: "" } : undefined);
  const phase = recovered === undefined ? NodePhase.Succeeded : NodePhase.Recovered;
  const status = changePhase(node.status, { phase, now: walk.now });
  walk.doubt ||= node.unconfirmed;
  const facts: ToldEnd = {
    deckUri: recovered?.deckUri ?? deckUri,
    cache: recovered === undefined ? node.cache : formerCache(node, recovered),
    childExecution: recovered === undefined ? childOf(walk, node) : recovered.childExecution,
  };
  // Nothing was told before of a node that ends without having begun.
  const inputs = node.status.phase === NodePhase.NotYetStarted && !node.inputsWritten ? node.inputs : undefined;
  closeArray(walk, node);
  const { arrayNodeStatus } = node.status;
  walk.setNode(node, {
    ...status,
    ...(arrayNodeStatus && { arrayNodeStatus }),
    ...retainOutputs(walk, node, outputs),
    ...endFacts(facts, node.attemptDir),
  });
  const details = { ...facts, ...successOf(walk, node, outputs?.value) };
  if (recovered === undefined)
    tellArrayEnd(walk, node, { phase: TaskExecution_Phase.SUCCEEDED, outputUri: details.outputUri, outputs: details.outputs });
  walk.tell.node(node, nodeEventPhase(phase), { ...details, inputs }, node.id === START_NODE ? walk.releaseOf(node) : "held");
  settle(walk, node);
}

/** Facts of a success that follow from its status, so that a success that is told again says the same as at first. */
function successOf(
  walk: Walk,
  node: RuntimeNode,
  outputs: LiteralMap | undefined,
): Pick<NodeEventDetails, "outputUri" | "outputs" | "checkpointUri"> {
  const checkpointUri = checkpointOf(walk, node);
  if (!namesOutputs(node)) return { checkpointUri };
  return { checkpointUri, outputUri: node.status.outputUri ?? outputsUri(node.attemptDir), outputs };
}

export interface FailureDetails {
  readonly deckUri?: string;
  /** The attempt itself told its end, so it may have left a checkpoint. */
  readonly attemptEnded?: boolean;
}

export function fail(walk: Walk, node: RuntimeNode, error: ExecutionErrorJson, details: FailureDetails = {}): void {
  tellArrayEnd(walk, node, { phase: TaskExecution_Phase.FAILED, error });
  const facts: ToldEnd = { deckUri: details.deckUri, cache: node.cache, childExecution: childOf(walk, node) };
  walk.setNode(node, {
    ...changePhase(node.status, { phase: NodePhase.Failed, error: walk.errors.take(error, node.status.error), now: walk.now }),
    ...endFacts(facts, node.attemptDir),
  });
  const checkpoint = details.attemptEnded === true ? checkpointOf(walk, node) : undefined;
  walk.note("Warning", "NodeFailed", `node ${node.path}: ${error.code}: ${error.message}`);
  walk.tell.node(node, NodeExecution_Phase.FAILED, { error, ...facts, checkpointUri: checkpoint }, "held");
  settle(walk, node);
}

/** The node's time over all attempts is up, and nothing of it runs. */
export function timeOut(walk: Walk, node: RuntimeNode): void {
  tellArrayEnd(walk, node, { phase: TaskExecution_Phase.FAILED, error: TIMED_OUT });
  walk.setNode(node, changePhase(node.status, { phase: NodePhase.TimedOut, now: walk.now }));
  walk.tell.node(node, NodeExecution_Phase.TIMED_OUT, {}, "held");
  settle(walk, node);
}

/** The node does not run; an arm that is not taken is not even told of. */
export function skip(walk: Walk, node: RuntimeNode, told: boolean): void {
  walk.setNode(node, changePhase(node.status, { phase: NodePhase.Skipped, now: walk.now }));
  if (told) walk.tell.node(node, NodeExecution_Phase.SKIPPED, {}, "held");
  settle(walk, node);
}

/** The node was stopped and nothing of it runs; its phase stays what it was, as Flyte has none for this. */
export function abort(walk: Walk, node: RuntimeNode, reason: string): void {
  // Nobody was told of a node that waited for its inputs.
  const told = node.status.phase !== NodePhase.NotYetStarted;
  tellArrayEnd(walk, node, { phase: TaskExecution_Phase.ABORTED });
  if (told) tellAborted(walk, node, reason, "held");
  settle(walk, node);
}

export function tellAborted(walk: Walk, node: RuntimeNode, reason: string, release: Release): void {
  walk.tell.node(node, NodeExecution_Phase.ABORTED, { error: { code: "NodeAborted", message: reason } }, release);
}

/** Tells again how a node stands; for nodes whose last event may have been lost with the process. */
export function tellAgain(walk: Walk, node: RuntimeNode): void {
  const { status } = node;
  const occurredAt = toldAgainAt(status.stoppedAt, walk.now);
  const facts = { occurredAt, cache: toldCache(status), childExecution: toldChild(walk, node), deckUri: toldDeck(status, node.attemptDir) };
  // The status of a node that ended otherwise may hold the error of an earlier attempt.
  const error = status.phase === NodePhase.Failed ? status.error : undefined;
  const end = node.succeeded ? successOf(walk, node, keptOutputs(walk, node)) : { error };
  walk.tell.node(node, nodeEventPhase(status.phase), { ...facts, ...end }, "now");
}

/** Whether the node's success tells of outputs: an end node's does not, nor that of what gives none. */
function namesOutputs(node: RuntimeNode): boolean {
  const { target } = node.model;
  switch (target.kind) {
    case "end":
      return false;
    case "gate":
      return target.gate.condition.case !== "sleep";
    case "subWorkflow":
      return (node.scope.definitions.subWorkflows.get(target.workflow)?.outputBindings.length ?? 0) > 0;
    case "task":
      return !ranGraph(node) || !promisesNothing(node);
    default:
      return true;
  }
}

/** The node is a task that made a graph, which stands below it, also after its end. */
function ranGraph({ expanded, status }: RuntimeNode): boolean {
  return expanded || status.subNodeStatus !== undefined;
}

/** The execution that the node's present attempt has started. */
function childOf(walk: Walk, node: RuntimeNode): WorkflowExecutionIdentifier | undefined {
  return node.launched ? childExecutionId(walk.model, node) : undefined;
}

/** The execution that the terminal event named. */
function toldChild(walk: Walk, node: RuntimeNode): WorkflowExecutionIdentifier | undefined {
  const { childExecution: name } = node.status;
  const { project, domain } = walk.model.executionId;
  return name === undefined ? childOf(walk, node) : create(WorkflowExecutionIdentifierSchema, { project, domain, name });
}

/** What Go Flyte tells of the cache with a recovered task: what was told of it before. */
function formerCache({ model }: RuntimeNode, { cacheStatus, catalogKey }: FormerNode) {
  if (model.target.kind !== "task") return undefined;
  return { status: cacheStatus, key: catalogKey, reservation: Reservation.RESERVATION_DISABLED };
}

/** Gives the place at which the attempt of a task that ended well may have left a checkpoint; undefined where no attempt ran. */
function checkpointOf(walk: Walk, node: RuntimeNode): string | undefined {
  const { phase, catalog } = node.status;
  if (phase === NodePhase.Recovered || catalog?.status === CatalogCacheStatus.CACHE_HIT) return undefined;
  if (node.model.target.kind !== "task" || ranGraph(node)) return undefined;
  return checkpointUri(rawOutputsOf({ workflow: walk.model, config: walk.config }, node, node.attempt));
}

/** Bookkeeping of every end: the slot, what it held, who waits for it. */
function settle(walk: Walk, node: RuntimeNode): void {
  const { scope } = node;
  node.settled = true;
  node.endedAt = walk.now;
  if (node.begun) {
    scope.lastEndFailed = node.failed;
    scope.live--;
    walk.activeNodes--;
    walk.count("nodeEnded");
  }
  releaseSlot(walk, node);
  walk.blobs.release(node);
  releaseReservation(walk, node);
  forgetAll(walk, node);
  node.cache = undefined;
  node.recovered = undefined;
  walk.timers.drop(node);
  node.inputs = undefined;
  node.pendingOutputs = undefined;
  walk.dropWrites(node);
  node.request = undefined;
  node.stopping = undefined;
  // A node that was stopped keeps what stands below it, as it keeps its phase.
  if (node.inner !== undefined && node.terminal) leaveEnded(walk, node, node.inner);
  releaseSources(walk, node);
  // An arm's failure is its branch's, which follows at once.
  if (node.failed && node.branch === undefined) {
    scope.anyFailed = true;
    if (scope.failedNode === "") scope.failedNode = node.id;
  }
  if (scope.array !== undefined) itemEnded(walk, node, scope.array);
  if (node !== scope.failureNode && (scope.array !== undefined || scope.index.order.has(node.id))) scope.unsettled--;
  if (node.terminal) tellDependents(walk, node);
  if (node.branch !== undefined) walk.look(node.branch);
  walk.lookAt(scope);
}

export function releaseSlot(walk: Walk, node: RuntimeNode): void {
  if (!node.slot) return;
  node.slot = false;
  walk.slotsUsed--;
}

function tellDependents(walk: Walk, node: RuntimeNode): void {
  walk.scanAgain = true;
  if (!walk.fullWalks) countDown(walk, node);
  // Whatever ended the branch, no arm that did not run waits for it any more. One that did not choose skips none.
  const chose = node.status.phase !== NodePhase.Skipped && node.status.phase !== NodePhase.Recovered;
  for (const arm of armsOf(node)) {
    if (arm.settled || arm.begun) continue;
    if (chose) skip(walk, arm, false);
    else leaveOut(arm);
  }
}

/** An arm of a branch that was never asked, and what stands below it: they leave no trace. */
export function leaveOut(arm: RuntimeNode): void {
  arm.settled = true;
  arm.scope.unsettled--;
  for (const inner of armsOf(arm)) if (!inner.settled) leaveOut(inner);
}

/** Those that wait for the node wait for one less; who waits for none is looked at. */
function countDown(walk: Walk, node: RuntimeNode): void {
  const { scope } = node;
  for (const id of scope.index.dependents.get(node.id) ?? []) {
    const dependent = scope.nodes.get(id);
    if (dependent === undefined) continue;
    dependent.unfinished--;
    if (!node.succeeded) dependent.spoiled++;
    if (dependent.unfinished === 0) walk.look(dependent);
  }
}
