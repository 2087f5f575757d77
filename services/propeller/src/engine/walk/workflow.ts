import { isTerminalWorkflow, WorkflowPhase, workflowPhases } from "@flyte-ts/domain";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionErrorJson, NodeStatus } from "@flyte-ts/workflow-crd";
import { executionDataDir, outputsUri } from "../data/paths.js";
import { boundMessage } from "../failure/bound-message.js";
import { END_NODE } from "../graph/index-graph.js";
import type { Scope } from "../graph/runtime.js";
import { backoffDelay } from "@flyte-ts/async/backoff";
import { fromRfc3339, toldAgainAt, toSeconds } from "../time/rfc3339.js";
import { withoutEndFacts } from "../status/end-facts.js";
import { jsonSize } from "../status/json-size.js";
import { statusesOf } from "../status/statuses.js";
import { toldEnds } from "../status/told-ends.js";
import { decodeOutputs } from "./outputs.js";
import type { OwnStatus, Release, Walk } from "./walk.js";

// Phases of the workflow itself. Its terminal event is published once its status is durable, and again until admin has it.

/** Starts a new workflow. */
export function workflowStarts(walk: Walk): void {
  const time = toSeconds(walk.now);
  walk.setWorkflow({
    ...walk.status,
    phase: WorkflowPhase.Running,
    startedAt: walk.status.startedAt ?? time,
    lastUpdatedAt: time,
    message: "Workflow Started",
    dataDir: executionDataDir(walk.config.metadataPrefix, walk.model.executionId),
    defVersion: 1,
  });
  walk.startRevision = walk.revision + 1;
  walk.tell.workflow(WorkflowPhase.Running, { occurredAt: walk.now }, walk.goesAhead ? "now" : "held");
  walk.count("workflowStarted");
  walk.note("Normal", "Started", "the workflow has started");
}

/** Ends the workflow after all nodes succeeded: its outputs are those of the end node. */
export function workflowSucceeded(walk: Walk): void {
  const end = walk.root.nodes.get(END_NODE);
  const outputRef = end === undefined ? undefined : (end.status.outputUri ?? outputsUri(end.attemptDir));
  walk.tell.workflow(WorkflowPhase.Succeeding, { occurredAt: walk.now }, "now");
  enter(walk, WorkflowPhase.Success, { outputRef });
  tellEnd(walk, "held");
}

export function workflowFailing(walk: Walk, error: ExecutionErrorJson, failedNode: string): void {
  enter(walk, WorkflowPhase.Failing, { error, ...(failedNode === "" ? {} : { failedNode }) });
  walk.tell.workflow(WorkflowPhase.Failing, { occurredAt: walk.now, error }, "held");
}

export function workflowHandlesFailure(walk: Walk): void {
  enter(walk, WorkflowPhase.HandlingFailureNode, {});
}

/** Ends an aborted or failed workflow when nothing runs any more. */
export function workflowStopped(walk: Walk): void {
  if (isTerminalWorkflow(walk.status.phase)) return;
  walk.root.stage = "done";
  if (walk.aborting !== undefined) enter(walk, WorkflowPhase.Aborted, {});
  else enter(walk, WorkflowPhase.Failed, { error: walk.root.error ?? walk.status.error });
  tellEnd(walk, "held");
}

function enter(walk: Walk, phase: WorkflowPhase, more: Partial<OwnStatus>): void {
  const time = toSeconds(walk.now);
  const { message: _, ...status } = walk.status;
  const next: OwnStatus = { ...status, ...more, phase, lastUpdatedAt: time, startedAt: status.startedAt ?? time };
  if (isTerminalWorkflow(phase)) {
    next.stoppedAt ??= time;
    walk.endedAt = walk.now;
    const startedAt = fromRfc3339(next.startedAt) ?? walk.now;
    walk.count("workflowEnded", { phase: workflowPhases[phase]?.name ?? String(phase) }, Math.max(0, walk.now - startedAt) / 1_000);
    noteEnd(walk, phase, next);
  }
  walk.setWorkflow(next);
}

function noteEnd(walk: Walk, phase: WorkflowPhase, { error, abortReason, failedNode }: OwnStatus): void {
  const at = failedNode === undefined ? "" : `node ${failedNode}: `;
  if (phase === WorkflowPhase.Success) walk.note("Normal", "Succeeded", "the workflow has succeeded");
  else if (phase === WorkflowPhase.Aborted) walk.note("Warning", "Aborted", abortReason ?? "the workflow was aborted before it began");
  else walk.note("Warning", "Failed", `${at}${error?.code ?? ""}: ${error?.message ?? ""}`);
}

/** Publishes the terminal event from the status, again until it is recorded. */
export function tellEnd(walk: Walk, release: Release): void {
  const { phase, error, outputRef, stoppedAt } = walk.status;
  walk.tell.workflow(
    phase as WorkflowPhase,
    {
      occurredAt: walk.endedAt ?? toldAgainAt(stoppedAt, walk.now) ?? walk.now,
      error: phase === WorkflowPhase.Failed ? (error ?? UNKNOWN) : undefined,
      outputUri: phase === WorkflowPhase.Success ? outputRef : undefined,
      outputs: phase === WorkflowPhase.Success ? endOutputs(walk) : undefined,
      endedNodes: toldEnds(walk.root),
    },
    release,
  );
  walk.republishAt = walk.now + backoffDelay(walk.config.republish, walk.republished++, walk.config.random);
  walk.timers.set(walk.workflowTimer, walk.republishAt);
}

const UNKNOWN: ExecutionErrorJson = { code: "UnknownError", message: "Unknown error", kind: "UNKNOWN" };

function endOutputs(walk: Walk): LiteralMap | undefined {
  const end = walk.root.nodes.get(END_NODE);
  if (end?.outputs === undefined && end?.status.outputs !== undefined) end.outputs = decodeOutputs(end.status.outputs);
  return end?.outputs;
}

/** Handles the republishing timer. */
export function endDue(walk: Walk): void {
  if (walk.republishAt === undefined || walk.finishing !== "no" || !isTerminalWorkflow(walk.status.phase)) return;
  // The status may not be durable yet, when its write is slow.
  if (walk.now >= walk.republishAt) tellEnd(walk, "held");
  else walk.timers.set(walk.workflowTimer, walk.republishAt);
}

/** Finalizes the resource, in Go Flyte's form, once admin has recorded the end or will never accept it. */
export function finishWorkflow(walk: Walk): void {
  if (walk.finishing !== "no" || !isTerminalWorkflow(walk.status.phase)) return;
  walk.finishing = "asked";
  walk.republishAt = undefined;
  if (readsAsFinished(walk)) leaveEndFacts(walk, walk.root);
  const { abortReason: _a, failedNode: _f, eventSequence: _e, notice: _n, ...status } = walk.status;
  walk.setWorkflow(status);
  walk.emit({ kind: "finish", afterRevision: 0 }, "held");
}

/** True when the node statuses fit into the resource in Go Flyte's final form. Those in the blob store stay there. */
function readsAsFinished(walk: Walk): boolean {
  return walk.slices === undefined || jsonSize(finished(statusesOf(walk.root))) <= walk.config.inlineStatusLimit;
}

function finished(statuses: Readonly<Record<string, NodeStatus>>): Record<string, NodeStatus> {
  return Object.fromEntries(Object.entries(statuses).map(([id, status]) => [id, finishedNode(status)]));
}

function finishedNode(status: NodeStatus): NodeStatus {
  const own = withoutEndFacts(status);
  return own.subNodeStatus === undefined ? own : { ...own, subNodeStatus: finished(own.subNodeStatus) };
}

function leaveEndFacts(walk: Walk, { nodes }: Scope): void {
  for (const node of nodes.values()) {
    const status = withoutEndFacts(node.status);
    if (status !== node.status) walk.setNode(node, status);
    if (node.inner !== undefined) leaveEndFacts(walk, node.inner);
  }
}

/** Handles a deletion request. Returns true when nodes must be aborted first. */
export function workflowAborts(walk: Walk, reason: string): boolean {
  walk.aborting = reason;
  if (walk.status.phase === WorkflowPhase.Ready) {
    walk.setWorkflow({ ...walk.status, dataDir: walk.dataDir, defVersion: 1 });
    workflowStopped(walk);
    return false;
  }
  walk.setWorkflow({ ...walk.status, abortReason: boundMessage(reason, 1024) });
  return true;
}
