import { isTerminalNode, isTerminalWorkflow, WorkflowPhase, workflowPhases } from "@flyte-ts/domain/phase";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { executionDataDir, outputsUri } from "../graph/paths.js";
import { boundMessage } from "../errors/bound-message.js";
import { END_NODE } from "../graph/index-graph.js";
import { NOT_STARTED, type Scope } from "../graph/runtime.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { fromRfc3339, republishedAtMs, rfc3339Seconds } from "../time/rfc3339.js";
import { withoutEndStatusFields } from "../status/end-status-fields.js";
import { fieldBytes, jsonSize } from "../status/json-size.js";
import { countPublishedEnds } from "../status/published-ends.js";
import { decodeOutputs } from "../data/outputs.js";
import type { EffectTiming } from "../state/effect-buffer.js";
import { publishWorkflowEvent } from "../events/publish-event.js";
import type { RunState } from "../state/run-state.js";
import type { WorkflowOwnStatus } from "../status/run-status.js";

// Phases of the workflow itself. Its terminal event is published once its status is durable, and
// again until admin has it.

/** Starts a new workflow. */
export function startWorkflow(state: RunState): void {
  const time = rfc3339Seconds(state.observation.now);
  state.status.setWorkflow({
    ...state.status.workflow,
    phase: WorkflowPhase.Running,
    startedAt: state.status.workflow.startedAt ?? time,
    lastUpdatedAt: time,
    message: "Workflow Started",
    dataDir: executionDataDir(state.config.metadataPrefix, state.model.executionId),
    defVersion: 1,
  });
  state.observation.workflowStarted(state.status.revision + 1);
  publishWorkflowEvent(
    state,
    WorkflowPhase.Running,
    { occurredAt: state.observation.now },
    state.observation.speculationAllowed ? "immediate" : "afterWrite",
  );
  state.effects.metric("workflowStarted");
  state.effects.kubeEvent("Normal", "Started", "the workflow has started");
}

/** Ends the workflow after all nodes succeeded: its outputs are those of the end node. */
export function succeedWorkflow(state: RunState): void {
  const end = state.root.nodes.get(END_NODE);
  const outputRef = end === undefined ? undefined : (end.status.outputUri ?? outputsUri(end.attemptDir));
  publishWorkflowEvent(state, WorkflowPhase.Succeeding, { occurredAt: state.observation.now }, "immediate");
  enterPhase(state, WorkflowPhase.Success, { outputRef });
  publishTerminalEvent(state, "afterWrite");
}

export function markWorkflowFailing(state: RunState, error: ExecutionErrorJson, failedNode: string): void {
  enterPhase(state, WorkflowPhase.Failing, { error, ...(failedNode === "" ? {} : { failedNode }) });
  publishWorkflowEvent(state, WorkflowPhase.Failing, { occurredAt: state.observation.now, error }, "afterWrite");
}

export function markHandlingFailure(state: RunState): void {
  enterPhase(state, WorkflowPhase.HandlingFailureNode, {});
}

/** Ends an aborted or failed workflow when nothing runs any more. */
export function endWorkflow(state: RunState): void {
  if (isTerminalWorkflow(state.status.workflow.phase)) return;
  state.root.stage = "done";
  if (state.end.abortReason !== undefined) enterPhase(state, WorkflowPhase.Aborted, {});
  else enterPhase(state, WorkflowPhase.Failed, { error: state.root.error ?? state.status.workflow.error });
  publishTerminalEvent(state, "afterWrite");
}

function enterPhase(state: RunState, phase: WorkflowPhase, more: Partial<WorkflowOwnStatus>): void {
  const time = rfc3339Seconds(state.observation.now);
  const { message: _, ...status } = state.status.workflow;
  const next: WorkflowOwnStatus = { ...status, ...more, phase, lastUpdatedAt: time, startedAt: status.startedAt ?? time };
  if (isTerminalWorkflow(phase)) {
    next.stoppedAt ??= time;
    state.end.markEnded(state.observation.now);
    const startedAt = fromRfc3339(next.startedAt) ?? state.observation.now;
    state.effects.metric(
      "workflowEnded",
      { phase: workflowPhases[phase]?.name ?? String(phase) },
      Math.max(0, state.observation.now - startedAt) / 1_000,
    );
    emitEndKubeEvent(state, phase, next);
  }
  state.status.setWorkflow(next);
}

function emitEndKubeEvent(state: RunState, phase: WorkflowPhase, { error, abortReason, failedNode }: WorkflowOwnStatus): void {
  const at = failedNode === undefined ? "" : `node ${failedNode}: `;
  if (phase === WorkflowPhase.Success) state.effects.kubeEvent("Normal", "Succeeded", "the workflow has succeeded");
  else if (phase === WorkflowPhase.Aborted)
    state.effects.kubeEvent("Warning", "Aborted", abortReason ?? "the workflow was aborted before it started");
  else state.effects.kubeEvent("Warning", "Failed", `${at}${error?.code ?? ""}: ${error?.message ?? ""}`);
}

/** Publishes the terminal event from the status, again until it is recorded. */
export function publishTerminalEvent(state: RunState, timing: EffectTiming): void {
  const { phase, error, outputRef, stoppedAt } = state.status.workflow;
  publishWorkflowEvent(
    state,
    phase as WorkflowPhase,
    {
      occurredAt: state.end.endedAt ?? republishedAtMs(stoppedAt, state.observation.now) ?? state.observation.now,
      error: phase === WorkflowPhase.Failed ? (error ?? UNKNOWN) : undefined,
      outputUri: phase === WorkflowPhase.Success ? outputRef : undefined,
      outputs: phase === WorkflowPhase.Success ? endOutputs(state) : undefined,
      endedNodes: countPublishedEnds(state.root),
    },
    timing,
  );
  const delay = backoffDelay(state.config.terminalRepublishBackoff, state.end.publishCount, state.config.random);
  const republishAt = state.observation.now + delay;
  state.end.terminalPublished(republishAt);
  state.timers.scheduleWorkflow(republishAt);
}

const UNKNOWN: ExecutionErrorJson = { code: "UnknownError", message: "Unknown error", kind: "UNKNOWN" };

function endOutputs(state: RunState): LiteralMap | undefined {
  const end = state.root.nodes.get(END_NODE);
  if (end?.data.outputs === undefined && end?.status.outputs !== undefined) end.changeData().setOutputs(decodeOutputs(end.status.outputs));
  return end?.data.outputs;
}

/** Handles the republishing timer. */
export function onRepublishTimer(state: RunState): void {
  if (state.end.republishAt === undefined || state.end.finalization !== "none" || !isTerminalWorkflow(state.status.workflow.phase)) return;
  // The status may not be durable yet, when its write is slow.
  if (state.observation.now >= state.end.republishAt) publishTerminalEvent(state, "afterWrite");
  else state.timers.scheduleWorkflow(state.end.republishAt);
}

/**
 * Finalizes the resource, in Go Flyte's form, once admin has recorded the end or will never accept
 * it.
 */
export function requestFinalization(state: RunState): void {
  if (state.end.finalization !== "none" || !isTerminalWorkflow(state.status.workflow.phase)) return;
  state.end.requestFinalization();
  if (finalStatusFits(state)) removeEndStatusFields(state, state.root);
  const { abortReason: _a, failedNode: _f, eventSequence: _e, notice: _n, ...status } = state.status.workflow;
  state.status.setWorkflow(status);
  state.effects.emit({ kind: "finalize", afterRevision: 0 }, "afterWrite");
}

/**
 * True when the node statuses fit into the resource in Go Flyte's final form. Those in the blob
 * store stay there.
 */
function finalStatusFits(state: RunState): boolean {
  if (state.status.slices === undefined) return true;
  const { maxInlineStatusBytes } = state.config;
  return finalStatusBytes(state.root, maxInlineStatusBytes) <= maxInlineStatusBytes;
}

/**
 * Size of the statuses of a graph's nodes in Go Flyte's final form, as `jsonSize` of an object with
 * them; any number above `max` when it is larger.
 */
function finalStatusBytes({ nodes }: Scope, max: number): number {
  let bytes = jsonSize({});
  for (const [id, { status, childScope }] of nodes) {
    if (status === NOT_STARTED) continue;
    bytes += fieldBytes(id, jsonSize(withoutEndStatusFields(status)));
    if (childScope !== undefined && !isTerminalNode(status.phase))
      bytes += fieldBytes("subNodeStatus", finalStatusBytes(childScope, max - bytes));
    if (bytes > max) break;
  }
  return bytes;
}

function removeEndStatusFields(state: RunState, { nodes }: Scope): void {
  for (const node of nodes.values()) {
    const status = withoutEndStatusFields(node.status);
    if (status !== node.status) state.status.setNode(node, status);
    if (node.childScope !== undefined) removeEndStatusFields(state, node.childScope);
  }
}

/** Handles a deletion request. Returns true when nodes must be aborted first. */
export function abortWorkflow(state: RunState, reason: string): boolean {
  state.end.abort(reason);
  if (state.status.workflow.phase === WorkflowPhase.Ready) {
    state.status.setWorkflow({ ...state.status.workflow, dataDir: state.dataDir, defVersion: 1 });
    endWorkflow(state);
    return false;
  }
  state.status.setWorkflow({ ...state.status.workflow, abortReason: boundMessage(reason, 1024) });
  return true;
}
