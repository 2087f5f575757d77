import { NodePhase } from "@flyte-ts/domain/phase";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { wakeupKeys } from "../calls/pending-call.js";
import type { CallOutcome } from "../calls/call.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { cascadeCause, onChildPhase, childLookupFailed, onCreateRefused } from "../decide/launch-plan.js";
import { childExecutionId, childExecutionRequest } from "../messages/child-execution.js";
import { call, callProgress, pollAsFallback, cancelCall } from "../dependencies/calls.js";
import { inlineEventInputs } from "../data/input-location.js";
import { resolveInputs } from "../data/outputs.js";
import { markRunning, succeedAfterWrite } from "../lifecycle/mark-running.js";
import { failNode } from "../lifecycle/end-node.js";
import { publishNodeEvent } from "../events/publish-event.js";
import type { RunState } from "../state/run-state.js";

// A launch plan node starts a child execution. Its name is derived from the node and its attempt,
// so that creating it is idempotent.

/**
 * Reconciles the node: requests its child, and ends as that does. Called again when a result
 * arrives.
 */
export function reconcileChild(state: RunState, node: RuntimeNode, launchPlan: Identifier): void {
  if (node.calls.childState === "none") node.changeCalls().setChildState("requested");
  if (node.calls.childState === "requested") {
    if (callProgress(node, "createExecution") === undefined) republishQueued(state, node);
    const created = createChild(state, node, { launchPlan, inputs: node.data.inputs });
    if (created === undefined) return;
    if (created.kind === "refused") {
      node.changeCalls().setChildState("none");
      const refused = onCreateRefused(created);
      if (refused.kind === "fail") failNode(state, node, refused.error);
      return;
    }
  }
  if (node.currentAttempt.startedAt === undefined) {
    markRunning(state, node, { workflowNodeStatus: { phase: 1 } });
  }
  awaitChild(state, node);
}

/**
 * After a restart, publishes again the node that the child will name as its parent: the event may
 * have been lost with the previous process.
 */
function republishQueued(state: RunState, node: RuntimeNode): void {
  if (!node.readiness.maybeAheadOfStatus || node.status.phase !== NodePhase.Queued) return;
  publishNodeEvent(
    state,
    node,
    { phase: NodeExecution_Phase.QUEUED, inputs: inlineEventInputs(state, node), cache: node.calls.cache },
    "immediate",
  );
}

interface ChildLaunch {
  readonly launchPlan: Identifier;
  readonly inputs: LiteralMap | undefined;
}

/** Retries until it is certain whether the child exists. */
function createChild(
  state: RunState,
  node: RuntimeNode,
  { launchPlan, inputs }: ChildLaunch,
): CallOutcome<"created" | "exists"> | undefined {
  if (inputs === undefined) return undefined;
  const request = childExecutionRequest(node, { workflow: state.model, launchPlan, inputs });
  const created = call(state, node, { kind: "createExecution", request }, { timing: "afterWrite" });
  if (created?.kind !== "value") return created;
  cancelCall(state, node, "createExecution");
  node.changeCalls().childCreated();
  return created;
}

function awaitChild(state: RunState, node: RuntimeNode): void {
  const child = readChild(state, node);
  if (child === undefined) return;
  if (child.kind === "refused") {
    node.changeCalls().setChildState("none");
    failNode(state, node, childLookupFailed(node, child).error);
    return;
  }
  const decision = onChildPhase(node, child.value, childExecutionId(state.model, node).name);
  switch (decision.kind) {
    case "succeed":
      node.changeCalls().setChildState("none");
      cancelCall(state, node, "readExecution");
      succeedAfterWrite(state, node, decision);
      return;
    case "fail":
      node.changeCalls().setChildState("none");
      failNode(state, node, decision.error);
      return;
    default:
      pollAsFallback(state, node, "readExecution");
  }
}

function readChild(state: RunState, node: RuntimeNode) {
  const id = childExecutionId(state.model, node);
  return call(state, node, { kind: "readExecution", id }, { wakeupKey: wakeupKeys.child(node.uniqueId) });
}

/**
 * Terminates the child of a node that is being aborted, and waits until it has ended. Repeats the
 * creation request while its outcome is unknown: a child created after its abort was requested
 * would keep running. After `abortTimeout` without an outcome, only terminates what may exist.
 */
export function abortChild(state: RunState, node: RuntimeNode, launchPlan: Identifier): void {
  if (node.calls.childState === "requested" && !state.policy.confirmsChildBeforeAbort(node)) node.changeCalls().setChildState("none");
  if (node.calls.childState === "requested") {
    if (node.data.inputs === undefined) node.changeData().setInputs(boundInputs(state, node));
    const created = createChild(state, node, { launchPlan, inputs: node.data.inputs });
    if (created?.kind === "refused") {
      cancelCall(state, node, "createExecution");
      node.changeCalls().setChildState("none");
    } else if (hasNoOutcome(state, node)) {
      cancelCall(state, node, "createExecution");
      node.changeCalls().setChildState("exists");
    }
  }
  if (node.calls.childState === "exists") terminateChild(state, node);
  if (node.calls.childState === "none") state.queues.enqueueNode(node);
}

/** True when each creation request has failed for `abortTimeout`; 0 there: never. */
function hasNoOutcome(state: RunState, node: RuntimeNode): boolean {
  const { abortTimeout } = state.config;
  const progress = callProgress(node, "createExecution");
  if (progress?.error === undefined || abortTimeout === 0) return false;
  return state.observation.now - progress.firstSentAt >= abortTimeout;
}

/** A creation without inputs cannot be repeated: then only terminates a child that may exist. */
function boundInputs(state: RunState, node: RuntimeNode): LiteralMap | undefined {
  const bound = resolveInputs(state, node);
  if (bound.kind === "waiting") return undefined;
  state.blobReads.unsubscribe(node);
  if (bound.kind === "error") node.changeCalls().setChildState("exists");
  return bound.kind === "ready" ? bound.inputs : undefined;
}

function terminateChild(state: RunState, node: RuntimeNode): void {
  const id = childExecutionId(state.model, node);
  const cause = cascadeCause(state.model.name, node.abortReason ?? "");
  const stopped = call(state, node, { kind: "terminateExecution", id, cause }, { timing: "afterWrite" });
  if (stopped === undefined) return;
  if (stopped.kind === "value" && stopped.value === "requested") {
    const child = readChild(state, node);
    if (child === undefined) return;
    if (child.kind === "value" && child.value.phase === "running") {
      pollAsFallback(state, node, "readExecution");
      return;
    }
  }
  cancelCall(state, node, "terminateExecution");
  cancelCall(state, node, "readExecution");
  node.changeCalls().setChildState("none");
}
