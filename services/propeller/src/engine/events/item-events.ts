import { taskGeneratedName } from "@flyte-ts/domain/name";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import { itemId } from "../array/items.js";
import { externalResource, type ItemState } from "../array/item-changes.js";
import { type ArrayState, itemReportingOf } from "../array/array-state.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { inlineEventInputs } from "../data/input-location.js";
import { publishArrayTaskEvent } from "./publish-event.js";
import type { RunState } from "../state/run-state.js";

// Publishes the items of a map task as external resources of the array's single task execution. Its
// events contain only changes, with limits on their number and rate.

/** Maximum of resources per event, so that it fits into a bus message. */
const MAX_RESOURCES_PER_EVENT = 1_000;
/**
 * Arrays of up to this size report all items in their last event, in case an earlier one was lost.
 */
const MAX_FULL_FINAL_EVENT = 500;

/** Publishes the entered array with all of its items, of which none has started. */
export function publishArrayQueued(state: RunState, owner: RuntimeNode, array: ArrayState): void {
  if (array.reportsItemsAs === "nodes") return;
  const states = Array.from({ length: array.size }, (_, index) => notStartedItem(index));
  const chunks = inChunks(states);
  chunks.forEach((chunk, version) => {
    const first = version === 0 ? { inputUri: owner.inputsUri, inputs: inlineEventInputs(state, owner) } : {};
    publishArrayEvent(state, owner, { phase: TaskExecution_Phase.QUEUED, version, states: chunk, ...first });
  });
  array.changes.publishedAt = state.observation.now;
}

function notStartedItem(index: number): ItemState {
  return { index, attempt: 0, phase: TaskExecution_Phase.UNDEFINED };
}

/** At the end of an observation: publishes the changes, or schedules it. */
export function publishArrayChanges(state: RunState): void {
  for (const scope of state.publishing.drainChangedArrays()) {
    const { owner, array } = scope;
    if (array === undefined || owner === undefined || owner.ended || owner.childScope !== scope || array.changes.size === 0) continue;
    const due = array.changes.dueAt(state.observation.now, state.config.arrayEventInterval);
    if (due <= state.observation.now) publishChanges(state, owner, array);
    else {
      array.changes.publishAt = due;
      state.timers.markStale(owner);
    }
  }
}

/** Time at which changes of the array's items are published, ms. */
export function changesDueAt(node: RuntimeNode): number | undefined {
  return node.childScope?.array?.changes.publishAt;
}

function publishChanges(state: RunState, owner: RuntimeNode, array: ArrayState): void {
  for (const states of inChunks(array.changes.drain())) {
    const version = (owner.status.arrayNodeStatus?.taskPhaseVersion ?? 0) + 1;
    const known = owner.status.arrayNodeStatus ?? { phase: 1 };
    state.status.setNode(owner, { ...owner.status, arrayNodeStatus: { ...known, taskPhaseVersion: version } });
    publishArrayEvent(state, owner, { phase: TaskExecution_Phase.RUNNING, version, states });
  }
  array.changes.runningPublished = true;
  array.changes.publishedAt = state.observation.now;
  array.changes.publishAt = undefined;
}

export interface ArrayEnd {
  readonly phase: TaskExecution_Phase;
  readonly error?: ExecutionErrorJson | undefined;
  readonly outputUri?: string | undefined;
  readonly outputs?: LiteralMap | undefined;
}

/** Publishes the array's end with all unpublished item changes; the node's own end follows it. */
export function publishArrayEnd(state: RunState, node: RuntimeNode, end: ArrayEnd): void {
  const { target } = node.model;
  if (target.kind !== "array" || itemReportingOf(target.subNode) === "nodes") return;
  const array = node.childScope?.array;
  if (array === undefined) {
    publishNeverStarted(state, node, end);
    return;
  }
  const full = array.size <= MAX_FULL_FINAL_EVENT;
  const last = full ? allItems(node.childScope, array) : [];
  if (!full || (!array.changes.runningPublished && end.phase === TaskExecution_Phase.SUCCEEDED)) publishChanges(state, node, array);
  else for (const change of array.changes.drain()) if (!isLatest(node.childScope, change)) last.push(change);
  publishArrayEvent(state, node, { ...end, version: 0, states: last.toSorted((a, b) => a.index - b.index || a.attempt - b.attempt) });
}

/**
 * Publishes nothing for an array aborted before its start, since no task execution is published. An
 * array whose lists do not match is published as aborted, since its task did not fail.
 */
function publishNeverStarted(state: RunState, node: RuntimeNode, end: ArrayEnd): void {
  switch (end.phase) {
    case TaskExecution_Phase.ABORTED:
      return;
    case TaskExecution_Phase.FAILED:
      publishArrayEvent(state, node, { phase: TaskExecution_Phase.ABORTED, version: 0, states: [] });
      return;
    default:
      publishArrayEvent(state, node, { ...end, version: 0, states: [] });
  }
}

function isLatest(scope: Scope | undefined, { index, attempt }: ItemState): boolean {
  return scope?.nodes.get(itemId(index))?.attempt === attempt;
}

function allItems(scope: Scope | undefined, array: ArrayState): ItemState[] {
  return Array.from({ length: array.size }, (_, index) => {
    const node = scope?.nodes.get(itemId(index));
    if (node === undefined || !node.started) return notStartedItem(index);
    const known = array.changes.find(index, node.attempt);
    return { index, attempt: node.attempt, cacheStatus: node.calls.cache?.status, ...known, phase: endPhase(node) };
  });
}

function endPhase(node: RuntimeNode): TaskExecution_Phase {
  if (node.hasSucceeded) return TaskExecution_Phase.SUCCEEDED;
  return node.hasFailed ? TaskExecution_Phase.FAILED : TaskExecution_Phase.ABORTED;
}

function inChunks(states: readonly ItemState[]): readonly (readonly ItemState[])[] {
  const chunks: ItemState[][] = [];
  for (let at = 0; at < states.length; at += MAX_RESOURCES_PER_EVENT) chunks.push(states.slice(at, at + MAX_RESOURCES_PER_EVENT));
  return chunks;
}

interface ArrayPublication extends ArrayEnd {
  readonly version: number;
  readonly states: readonly ItemState[];
  readonly inputUri?: string;
  readonly inputs?: LiteralMap | undefined;
}

function publishArrayEvent(state: RunState, node: RuntimeNode, { version, states, ...facts }: ArrayPublication): void {
  const prefix = taskGeneratedName({ execution: state.model.name, nodeUniqueId: node.uniqueId, attempt: node.attempt });
  publishArrayTaskEvent(state, {
    ...facts,
    nodeId: node.uniqueId,
    attempt: node.attempt,
    taskId: state.taskIdOf(node),
    phaseVersion: version,
    resources: states.map((itemState) => externalResource(itemState, prefix)),
  });
}
