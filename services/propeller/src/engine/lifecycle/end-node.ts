import { create } from "@bufbuild/protobuf";
import { nodeEventPhase, NodePhase } from "@flyte-ts/domain/phase";
import { CatalogCacheStatus, CatalogReservation_Status as Reservation } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeExecution_Phase, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type WorkflowExecutionIdentifier, WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { checkpointUri, outputsUri } from "../graph/paths.js";
import { armsOf } from "../graph/arms.js";
import { START_NODE } from "../graph/index-graph.js";
import type { PriorNode } from "../calls/recovery.js";
import type { NodeEventDetails } from "../events/node-event.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeOutputs } from "../data/node-inputs.js";
import { declaresNoOutputs } from "../decide/task.js";
import { childExecutionId } from "../messages/child-execution.js";
import { rawOutputPrefixOf } from "../messages/task-request.js";
import { endStatusFields, cacheOfEnd, deckOfEnd, type EndDetails } from "../status/end-status-fields.js";
import { changePhase } from "../status/update-phase.js";
import { republishedAtMs } from "../time/rfc3339.js";
import { finalizeArrayStatus, onItemEnded } from "./reconcile-array.js";
import { publishArrayEnd } from "../events/item-events.js";
import { cancelCalls } from "../dependencies/calls.js";
import { releaseReservation } from "../dependencies/cache.js";
import { outputsByValue, releaseUpstreamOutputs, keepOutputs } from "../data/outputs.js";
import { discardKeepingStatuses } from "./discard-scope.js";
import type { EffectTiming } from "../state/effect-buffer.js";
import { publishNodeEvent } from "../events/publish-event.js";
import type { RunState } from "../state/run-state.js";
import { TIMED_OUT } from "../errors/timed-out.js";

export interface Success {
  readonly outputs: NodeOutputs | undefined;
  readonly deckUri?: string;
}

/** Ends a node with success: keeps its outputs for consumers and enqueues dependents. */
export function succeedNode(state: RunState, node: RuntimeNode, { outputs: given, deckUri }: Success): void {
  const { recoveredFrom } = node.calls;
  // As in Go Flyte: a node that declares outputs and returned none has an empty map. No blob is at
  // the address in its event.
  const outputs = given ?? (namesOutputs(node) ? { value: create(LiteralMapSchema), uri: "" } : undefined);
  const phase = recoveredFrom === undefined ? NodePhase.Succeeded : NodePhase.Recovered;
  const status = changePhase(node.status, { phase, now: state.observation.now });
  if (node.readiness.maybeAheadOfStatus) state.observation.setPriorStartPossible(true);
  const facts: EndDetails = {
    deckUri: recoveredFrom?.deckUri ?? deckUri,
    cache: recoveredFrom === undefined ? node.calls.cache : priorCacheStatus(node, recoveredFrom),
    childExecution: recoveredFrom === undefined ? childOf(state, node) : recoveredFrom.childExecution,
  };
  // A node that ends without having started has no earlier event, so its terminal event carries the
  // inputs.
  const inputs = node.status.phase === NodePhase.NotYetStarted && !node.data.inputsInBlobStore ? node.data.inputs : undefined;
  finalizeArrayStatus(state, node);
  const { arrayNodeStatus } = node.status;
  state.status.setNode(node, {
    ...status,
    ...(arrayNodeStatus && { arrayNodeStatus }),
    ...keepOutputs(state, node, outputs),
    ...endStatusFields(facts, node.attemptDir),
  });
  const details = { ...facts, ...successOf(state, node, outputs?.value) };
  if (recoveredFrom === undefined)
    publishArrayEnd(state, node, { phase: TaskExecution_Phase.SUCCEEDED, outputUri: details.outputUri, outputs: details.outputs });
  publishNodeEvent(
    state,
    node,

    { phase: nodeEventPhase(phase), ...details, inputs },
    node.id === START_NODE ? state.observation.effectTimingFor(node) : "afterWrite",
  );
  onNodeEnded(state, node);
}

/** Facts of a success derived from its status, so that a republished success is identical. */
function successOf(
  state: RunState,
  node: RuntimeNode,
  outputs: LiteralMap | undefined,
): Pick<NodeEventDetails, "outputUri" | "outputs" | "checkpointUri"> {
  const checkpointUri = checkpointOf(state, node);
  if (!namesOutputs(node)) return { checkpointUri };
  return { checkpointUri, outputUri: node.status.outputUri ?? outputsUri(node.attemptDir), outputs };
}

export interface FailureDetails {
  readonly deckUri?: string;
  /** The attempt reported its own end, so it may have left a checkpoint. */
  readonly attemptEnded?: boolean;
}

export function failNode(state: RunState, node: RuntimeNode, error: ExecutionErrorJson, details: FailureDetails = {}): void {
  publishArrayEnd(state, node, { phase: TaskExecution_Phase.FAILED, error });
  const facts: EndDetails = { deckUri: details.deckUri, cache: node.calls.cache, childExecution: childOf(state, node) };
  state.status.setNode(node, {
    ...changePhase(node.status, {
      phase: NodePhase.Failed,
      error: state.errors.replace(error, node.status.error),
      now: state.observation.now,
    }),
    ...endStatusFields(facts, node.attemptDir),
  });
  const checkpoint = details.attemptEnded === true ? checkpointOf(state, node) : undefined;
  state.effects.kubeEvent("Warning", "NodeFailed", `node ${node.path}: ${error.code}: ${error.message}`);
  publishNodeEvent(state, node, { phase: NodeExecution_Phase.FAILED, error, ...facts, checkpointUri: checkpoint }, "afterWrite");
  onNodeEnded(state, node);
}

/** Ends a node whose timeout over all attempts has passed, when nothing of it runs. */
export function timeOutNode(state: RunState, node: RuntimeNode): void {
  publishArrayEnd(state, node, { phase: TaskExecution_Phase.FAILED, error: TIMED_OUT });
  state.status.setNode(node, changePhase(node.status, { phase: NodePhase.TimedOut, now: state.observation.now }));
  publishNodeEvent(state, node, { phase: NodeExecution_Phase.TIMED_OUT }, "afterWrite");
  onNodeEnded(state, node);
}

/** Skips the node; an arm that is not chosen publishes nothing. */
export function skipNode(state: RunState, node: RuntimeNode, published: boolean): void {
  state.status.setNode(node, changePhase(node.status, { phase: NodePhase.Skipped, now: state.observation.now }));
  if (published) publishNodeEvent(state, node, { phase: NodeExecution_Phase.SKIPPED }, "afterWrite");
  onNodeEnded(state, node);
}

/** Ends an aborted node of which nothing runs; its phase stays, as Flyte has none for this. */
export function endAborted(state: RunState, node: RuntimeNode, reason: string): void {
  // A node that waited for its inputs was not published.
  const reported = node.status.phase !== NodePhase.NotYetStarted;
  publishArrayEnd(state, node, { phase: TaskExecution_Phase.ABORTED });
  if (reported) publishAborted(state, node, reason, "afterWrite");
  onNodeEnded(state, node);
}

export function publishAborted(state: RunState, node: RuntimeNode, reason: string, timing: EffectTiming): void {
  publishNodeEvent(state, node, { phase: NodeExecution_Phase.ABORTED, error: { code: "NodeAborted", message: reason } }, timing);
}

/** Publishes a node's state again, when its last event may have been lost with the process. */
export function republishNode(state: RunState, node: RuntimeNode): void {
  const { status } = node;
  const occurredAt = republishedAtMs(status.stoppedAt, state.observation.now);
  const facts = {
    occurredAt,
    cache: cacheOfEnd(status),
    childExecution: publishedChild(state, node),
    deckUri: deckOfEnd(status, node.attemptDir),
  };
  // The status of a node that ended otherwise may hold the error of an earlier attempt.
  const error = status.phase === NodePhase.Failed ? status.error : undefined;
  const end = node.hasSucceeded ? successOf(state, node, outputsByValue(state, node)) : { error };
  publishNodeEvent(state, node, { phase: nodeEventPhase(status.phase), ...facts, ...end }, "immediate");
}

/**
 * True when the node's success names outputs: not for an end node, nor for a node without outputs.
 */
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
      return !hadDynamicGraph(node) || !declaresNoOutputs(node);
    default:
      return true;
  }
}

/** True for a task that produced a graph, which is below it, also after its end. */
function hadDynamicGraph({ graph, status }: RuntimeNode): boolean {
  return graph.isDynamic || status.subNodeStatus !== undefined;
}

/** Child execution of the node's current attempt. */
function childOf(state: RunState, node: RuntimeNode): WorkflowExecutionIdentifier | undefined {
  return node.calls.hasChildExecution ? childExecutionId(state.model, node) : undefined;
}

/** Child execution named by the terminal event. */
function publishedChild(state: RunState, node: RuntimeNode): WorkflowExecutionIdentifier | undefined {
  const { childExecution: name } = node.status;
  const { project, domain } = state.model.executionId;
  return name === undefined ? childOf(state, node) : create(WorkflowExecutionIdentifierSchema, { project, domain, name });
}

/** Cache facts that Go Flyte publishes for a recovered task: those of the recovered execution. */
function priorCacheStatus({ model }: RuntimeNode, { cacheStatus, catalogKey }: PriorNode) {
  if (model.target.kind !== "task") return undefined;
  return { status: cacheStatus, key: catalogKey, reservation: Reservation.RESERVATION_DISABLED };
}

/**
 * Location at which a succeeded task's attempt may have left a checkpoint; undefined when no
 * attempt ran.
 */
function checkpointOf(state: RunState, node: RuntimeNode): string | undefined {
  const { phase, catalog } = node.status;
  if (phase === NodePhase.Recovered || catalog?.status === CatalogCacheStatus.CACHE_HIT) return undefined;
  if (node.model.target.kind !== "task" || hadDynamicGraph(node)) return undefined;
  return checkpointUri(rawOutputPrefixOf({ workflow: state.model, config: state.config }, node, node.attempt));
}

/** Bookkeeping common to all ends: slot, held resources, dependents. */
function onNodeEnded(state: RunState, node: RuntimeNode): void {
  const { scope } = node;
  node.lifecycle.end(state.observation.now);
  if (node.started) {
    scope.lastEndedFailed = node.hasFailed;
    state.usage.nodeEnded(node);
    state.effects.metric("nodeEnded");
  }
  state.usage.releaseSlot(node);
  state.blobReads.unsubscribe(node);
  releaseReservation(state, node);
  cancelCalls(state, node);
  state.timers.cancel(node);
  state.blobWrites.cancel(node);
  node.releaseAtEnd();
  // An aborted node keeps its nested statuses, as it keeps its phase.
  if (node.childScope !== undefined && node.isTerminal) discardKeepingStatuses(state, node, node.childScope);
  releaseUpstreamOutputs(state, node);
  // An arm's failure becomes its branch's, which follows at once.
  if (node.hasFailed && node.branch === undefined) {
    scope.hasFailure = true;
    if (scope.failedNodeId === "") scope.failedNodeId = node.id;
  }
  if (scope.array !== undefined) onItemEnded(state, node, scope.array);
  if (node !== scope.failureNode && (scope.array !== undefined || scope.index.order.has(node.id))) scope.openNodes--;
  if (node.isTerminal) resolveDependents(state, node);
  if (node.branch !== undefined) state.queues.enqueueNode(node.branch);
  state.queues.enqueueScope(scope);
}

function resolveDependents(state: RunState, node: RuntimeNode): void {
  state.policy.readiness.onNodeEnded(state.queues, node);
  // Ends the arms that did not run, however the branch ended. Skips them only if the branch chose
  // an arm.
  const chose = node.status.phase !== NodePhase.Skipped && node.status.phase !== NodePhase.Recovered;
  for (const arm of armsOf(node)) {
    if (arm.ended || arm.started) continue;
    if (chose) skipNode(state, arm, false);
    else markNeverReached(arm);
  }
}

/** Ends an arm that was never reached, and its nested arms, without a status. */
export function markNeverReached(arm: RuntimeNode): void {
  arm.lifecycle.end(undefined);
  arm.scope.openNodes--;
  for (const nested of armsOf(arm)) if (!nested.ended) markNeverReached(nested);
}
