import { taskEventPhase, taskGeneratedName } from "@flyte-ts/domain";
import { NodeExecution_Phase, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";
import { itemId, itemIndex } from "../array/items.js";
import { externalResource, type ItemState } from "../array/news.js";
import { type ArrayRun, tellsOf } from "../array/run.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { inputsBeside } from "./input-place.js";
import type { Walk } from "./walk.js";

// Publishes the items of a map task as external resources of the array's single task execution. Its events contain only
// changes, with limits on their number and rate.

/** Maximum of resources per event, so that it fits into a bus message. */
const CHUNK = 1_000;
/** Arrays of up to this size report all items in their last event, in case an earlier one was lost. */
const FULL_AT_END = 500;

/** Array that reports on this node, when the node does not publish itself. */
export function tellerOf(node: RuntimeNode): ArrayRun | undefined {
  const { array } = node.scope;
  return array?.tells === "items" ? array : undefined;
}

/** Records an item's phase change. */
export function noteItem(walk: Walk, node: RuntimeNode, phase: NodeExecution_Phase, cacheStatus?: CatalogCacheStatus): void {
  noteItemPhase(walk, node, itemPhase(node, phase), cacheStatus);
}

/** Records the phase of an item's attempt. */
export function noteItemPhase(walk: Walk, node: RuntimeNode, phase: TaskExecution_Phase, cacheStatus?: CatalogCacheStatus): void {
  const array = tellerOf(node);
  if (array === undefined) return;
  array.news.note({ index: itemIndex(node.id), attempt: node.attempt, phase, cacheStatus });
  walk.news.add(node.scope);
}

/** Records a plugin service's report on an item's attempt. */
export function noteItemEvent(walk: Walk, node: RuntimeNode, event: TaskExecutionEvent): void {
  const array = tellerOf(node);
  if (array === undefined) return;
  array.news.note({ index: itemIndex(node.id), attempt: event.retryAttempt, phase: event.phase, event });
  walk.news.add(node.scope);
}

function itemPhase(node: RuntimeNode, phase: NodeExecution_Phase): TaskExecution_Phase {
  switch (phase) {
    case NodeExecution_Phase.QUEUED:
      return TaskExecution_Phase.QUEUED;
    case NodeExecution_Phase.RUNNING:
    case NodeExecution_Phase.DYNAMIC_RUNNING: {
      const told = taskEventPhase(node.status.TaskNodeStatus?.phase ?? 0);
      return told === TaskExecution_Phase.UNDEFINED ? TaskExecution_Phase.QUEUED : told;
    }
    case NodeExecution_Phase.SUCCEEDED:
    case NodeExecution_Phase.RECOVERED:
      return TaskExecution_Phase.SUCCEEDED;
    case NodeExecution_Phase.FAILING:
    case NodeExecution_Phase.FAILED:
    case NodeExecution_Phase.TIMED_OUT:
      return TaskExecution_Phase.FAILED;
    case NodeExecution_Phase.ABORTED:
      return TaskExecution_Phase.ABORTED;
    case NodeExecution_Phase.UNDEFINED:
    case NodeExecution_Phase.SKIPPED:
      return TaskExecution_Phase.UNDEFINED;
  }
}

/** Publishes the entered array with all of its items, of which none has started. */
export function tellEntered(walk: Walk, owner: RuntimeNode, array: ArrayRun): void {
  if (array.tells === "nodes") return;
  const states = Array.from({ length: array.size }, (_, index) => unborn(index));
  const chunks = inChunks(states);
  chunks.forEach((chunk, version) => {
    const first = version === 0 ? { inputUri: owner.inputsUri, inputs: inputsBeside(walk, owner) } : {};
    tell(walk, owner, { phase: TaskExecution_Phase.QUEUED, version, states: chunk, ...first });
  });
  array.news.toldAt = walk.now;
}

function unborn(index: number): ItemState {
  return { index, attempt: 0, phase: TaskExecution_Phase.UNDEFINED };
}

/** At the end of an observation: publishes the changes, or schedules it. */
export function tellNews(walk: Walk): void {
  for (const scope of walk.news) {
    const { owner, array } = scope;
    if (array === undefined || owner === undefined || owner.settled || owner.inner !== scope || array.news.size === 0) continue;
    const due = array.news.dueAt(walk.now, walk.config.arrayEventPause);
    if (due <= walk.now) tellChanges(walk, owner, array);
    else {
      array.news.tellAt = due;
      walk.armed.add(owner);
    }
  }
  walk.news.clear();
}

/** Time at which changes of the array's items are published, ms. */
export function newsDueAt(node: RuntimeNode): number | undefined {
  return node.inner?.array?.news.tellAt;
}

function tellChanges(walk: Walk, owner: RuntimeNode, array: ArrayRun): void {
  for (const states of inChunks(array.news.take())) {
    const version = (owner.status.arrayNodeStatus?.taskPhaseVersion ?? 0) + 1;
    const known = owner.status.arrayNodeStatus ?? { phase: 1 };
    walk.setNode(owner, { ...owner.status, arrayNodeStatus: { ...known, taskPhaseVersion: version } });
    tell(walk, owner, { phase: TaskExecution_Phase.RUNNING, version, states });
  }
  array.news.toldRunning = true;
  array.news.toldAt = walk.now;
  array.news.tellAt = undefined;
}

export interface ArrayEnd {
  readonly phase: TaskExecution_Phase;
  readonly error?: ExecutionErrorJson | undefined;
  readonly outputUri?: string | undefined;
  readonly outputs?: LiteralMap | undefined;
}

/** Publishes the array's end with all unpublished item changes; the node's own end follows it. */
export function tellArrayEnd(walk: Walk, node: RuntimeNode, end: ArrayEnd): void {
  const { target } = node.model;
  if (target.kind !== "array" || tellsOf(target.subNode) === "nodes") return;
  const array = node.inner?.array;
  if (array === undefined) {
    tellNeverEntered(walk, node, end);
    return;
  }
  const full = array.size <= FULL_AT_END;
  const last = full ? allItems(node.inner, array) : [];
  if (!full || (!array.news.toldRunning && end.phase === TaskExecution_Phase.SUCCEEDED)) tellChanges(walk, node, array);
  else if (full) for (const state of array.news.take()) if (!isLatest(node.inner, state)) last.push(state);
  tell(walk, node, { ...end, version: 0, states: last.toSorted((a, b) => a.index - b.index || a.attempt - b.attempt) });
}

/**
 * An array aborted before its start has no published task execution. One whose lists do not match is published as
 * aborted, since its task did not fail.
 */
function tellNeverEntered(walk: Walk, node: RuntimeNode, end: ArrayEnd): void {
  switch (end.phase) {
    case TaskExecution_Phase.ABORTED:
      return;
    case TaskExecution_Phase.FAILED:
      tell(walk, node, { phase: TaskExecution_Phase.ABORTED, version: 0, states: [] });
      return;
    default:
      tell(walk, node, { ...end, version: 0, states: [] });
  }
}

function isLatest(scope: Scope | undefined, { index, attempt }: ItemState): boolean {
  return scope?.nodes.get(itemId(index))?.attempt === attempt;
}

function allItems(scope: Scope | undefined, array: ArrayRun): ItemState[] {
  return Array.from({ length: array.size }, (_, index) => {
    const node = scope?.nodes.get(itemId(index));
    if (node === undefined || !node.begun) return unborn(index);
    const known = array.news.find(index, node.attempt);
    return { index, attempt: node.attempt, cacheStatus: node.cache?.status, ...known, phase: endPhase(node) };
  });
}

function endPhase(node: RuntimeNode): TaskExecution_Phase {
  if (node.succeeded) return TaskExecution_Phase.SUCCEEDED;
  return node.failed ? TaskExecution_Phase.FAILED : TaskExecution_Phase.ABORTED;
}

function inChunks(states: readonly ItemState[]): readonly (readonly ItemState[])[] {
  const chunks: ItemState[][] = [];
  for (let at = 0; at < states.length; at += CHUNK) chunks.push(states.slice(at, at + CHUNK));
  return chunks;
}

interface Telling extends ArrayEnd {
  readonly version: number;
  readonly states: readonly ItemState[];
  readonly inputUri?: string;
  readonly inputs?: LiteralMap | undefined;
}

function tell(walk: Walk, node: RuntimeNode, { version, states, ...facts }: Telling): void {
  const prefix = taskGeneratedName({ execution: walk.model.name, nodeUniqueId: node.uniqueId, attempt: node.attempt });
  walk.tell.array({
    ...facts,
    nodeId: node.uniqueId,
    attempt: node.attempt,
    taskId: walk.taskIdOf(node),
    phaseVersion: version,
    resources: states.map((state) => externalResource(state, prefix)),
  });
}
