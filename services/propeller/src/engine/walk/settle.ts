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

/** Ends a node with success: keeps its outputs for consumers and enqueues dependents. */
export function succeed(walk: Walk, node: RuntimeNode, { outputs: given, deckUri }: Success): void {
  const { recovered } = node;
  // As in Go Flyte: a node that declares outputs and returned none has an empty map. No blob is at the address in its event.
  const outputs = given ?? (namesOutputs(node) ? { value: create(LiteralMapSchema), uri: "" } : undefined);
  const phase = recovered === undefined ? NodePhase.Succeeded : NodePhase.Recovered;
  const status = changePhase(node.status, { phase, now: walk.now });
  walk.doubt ||= node.unconfirmed;
  const facts: ToldEnd = {
    deckUri: recovered?.deckUri ?? deckUri,
    cache: recovered === undefined ? node.cache : formerCache(node, recovered),
    childExecution: recovered === undefined ? childOf(walk, node) : recovered.childExecution,
  };
  // No event precedes that of a node that ends without having started.
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

/** Facts of a success derived from its status, so that a republished success is identical. */
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
  /** The attempt reported its own end, so it may have left a checkpoint. */
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

/** Ends a node whose timeout over all attempts has passed, when nothing of it runs. */
export function timeOut(walk: Walk, node: RuntimeNode): void {
  tellArrayEnd(walk, node, { phase: TaskExecution_Phase.FAILED, error: TIMED_OUT });
  walk.setNode(node, changePhase(node.status, { phase: NodePhase.TimedOut, now: walk.now }));
  walk.tell.node(node, NodeExecution_Phase.TIMED_OUT, {}, "held");
  settle(walk, node);
}

/** Skips the node; an arm that is not chosen publishes nothing. */
export function skip(walk: Walk, node: RuntimeNode, told: boolean): void {
  walk.setNode(node, changePhase(node.status, { phase: NodePhase.Skipped, now: walk.now }));
  if (told) walk.tell.node(node, NodeExecution_Phase.SKIPPED, {}, "held");
  settle(walk, node);
}

/** Ends an aborted node of which nothing runs; its phase stays, as Flyte has none for this. */
export function abort(walk: Walk, node: RuntimeNode, reason: string): void {
  // A node that waited for its inputs was not published.
  const told = node.status.phase !== NodePhase.NotYetStarted;
  tellArrayEnd(walk, node, { phase: TaskExecution_Phase.ABORTED });
  if (told) tellAborted(walk, node, reason, "held");
  settle(walk, node);
}

export function tellAborted(walk: Walk, node: RuntimeNode, reason: string, release: Release): void {
  walk.tell.node(node, NodeExecution_Phase.ABORTED, { error: { code: "NodeAborted", message: reason } }, release);
}

/** Publishes a node's state again, when its last event may have been lost with the process. */
export function tellAgain(walk: Walk, node: RuntimeNode): void {
  const { status } = node;
  const occurredAt = toldAgainAt(status.stoppedAt, walk.now);
  const facts = { occurredAt, cache: toldCache(status), childExecution: toldChild(walk, node), deckUri: toldDeck(status, node.attemptDir) };
  // The status of a node that ended otherwise may hold the error of an earlier attempt.
  const error = status.phase === NodePhase.Failed ? status.error : undefined;
  const end = node.succeeded ? successOf(walk, node, keptOutputs(walk, node)) : { error };
  walk.tell.node(node, nodeEventPhase(status.phase), { ...facts, ...end }, "now");
}

/** True when the node's success names outputs: not for an end node, nor for a node without outputs. */
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

/** True for a task that produced a graph, which is below it, also after its end. */
function ranGraph({ expanded, status }: RuntimeNode): boolean {
  return expanded || status.subNodeStatus !== undefined;
}

/** Child execution of the node's current attempt. */
function childOf(walk: Walk, node: RuntimeNode): WorkflowExecutionIdentifier | undefined {
  return node.launched ? childExecutionId(walk.model, node) : undefined;
}

/** Child execution named by the terminal event. */
function toldChild(walk: Walk, node: RuntimeNode): WorkflowExecutionIdentifier | undefined {
  const { childExecution: name } = node.status;
  const { project, domain } = walk.model.executionId;
  return name === undefined ? childOf(walk, node) : create(WorkflowExecutionIdentifierSchema, { project, domain, name });
}

/** Cache facts that Go Flyte publishes for a recovered task: those of the recovered execution. */
function formerCache({ model }: RuntimeNode, { cacheStatus, catalogKey }: FormerNode) {
  if (model.target.kind !== "task") return undefined;
  return { status: cacheStatus, key: catalogKey, reservation: Reservation.RESERVATION_DISABLED };
}

/** Location at which a succeeded task's attempt may have left a checkpoint; undefined when no attempt ran. */
function checkpointOf(walk: Walk, node: RuntimeNode): string | undefined {
  const { phase, catalog } = node.status;
  if (phase === NodePhase.Recovered || catalog?.status === CatalogCacheStatus.CACHE_HIT) return undefined;
  if (node.model.target.kind !== "task" || ranGraph(node)) return undefined;
  return checkpointUri(rawOutputsOf({ workflow: walk.model, config: walk.config }, node, node.attempt));
}

/** Bookkeeping common to all ends: slot, held resources, dependents. */
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
  // An aborted node keeps its nested statuses, as it keeps its phase.
  if (node.inner !== undefined && node.terminal) leaveEnded(walk, node, node.inner);
  releaseSources(walk, node);
  // An arm's failure becomes its branch's, which follows at once.
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
  // Ends the arms that did not run, however the branch ended. Skips them only if the branch chose an arm.
  const chose = node.status.phase !== NodePhase.Skipped && node.status.phase !== NodePhase.Recovered;
  for (const arm of armsOf(node)) {
    if (arm.settled || arm.begun) continue;
    if (chose) skip(walk, arm, false);
    else leaveOut(arm);
  }
}

/** Ends an arm that was never reached, and its nested arms, without a status. */
export function leaveOut(arm: RuntimeNode): void {
  arm.settled = true;
  arm.scope.unsettled--;
  for (const inner of armsOf(arm)) if (!inner.settled) leaveOut(inner);
}

/** Decrements the pending upstream count of each dependent; enqueues those that reach zero. */
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
