import { taskEventPhase } from "@flyte-ts/domain/phase";
import { NodeExecution_Phase, TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { TaskExecutionEvent } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { itemIndex } from "../array/items.js";
import type { ArrayState } from "../array/array-state.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { RunState } from "../state/run-state.js";

// Record changes of the items of a map task, which its array publishes.

/** Array that reports on this node, when the node does not publish itself. */
export function reportingArrayOf(node: RuntimeNode): ArrayState | undefined {
  const { array } = node.scope;
  return array?.reportsItemsAs === "items" ? array : undefined;
}

/** Records an item's phase change. */
export function recordItemPhase(state: RunState, node: RuntimeNode, phase: NodeExecution_Phase, cacheStatus?: CatalogCacheStatus): void {
  recordAttemptPhase(state, node, itemPhase(node, phase), cacheStatus);
}

/** Records the phase of an item's attempt. */
export function recordAttemptPhase(state: RunState, node: RuntimeNode, phase: TaskExecution_Phase, cacheStatus?: CatalogCacheStatus): void {
  const array = reportingArrayOf(node);
  if (array === undefined) return;
  array.changes.record({ index: itemIndex(node.id), attempt: node.attempt, phase, cacheStatus });
  state.publishing.markArrayChanged(node.scope);
}

/** Records a plugin service's report on an item's attempt. */
export function recordItemEvent(state: RunState, node: RuntimeNode, event: TaskExecutionEvent): void {
  const array = reportingArrayOf(node);
  if (array === undefined) return;
  array.changes.record({ index: itemIndex(node.id), attempt: event.retryAttempt, phase: event.phase, event });
  state.publishing.markArrayChanged(node.scope);
}

function itemPhase(node: RuntimeNode, phase: NodeExecution_Phase): TaskExecution_Phase {
  switch (phase) {
    case NodeExecution_Phase.QUEUED:
      return TaskExecution_Phase.QUEUED;
    case NodeExecution_Phase.RUNNING:
    case NodeExecution_Phase.DYNAMIC_RUNNING: {
      const phase = taskEventPhase(node.status.TaskNodeStatus?.phase ?? 0);
      return phase === TaskExecution_Phase.UNDEFINED ? TaskExecution_Phase.QUEUED : phase;
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
