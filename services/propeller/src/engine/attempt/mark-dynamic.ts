import { NodePhase, TaskPhase } from "@flyte-ts/domain/phase";
import type { RuntimeNode } from "../graph/runtime.js";
import { scheduleTimers } from "../requests/requests.js";
import type { RunState } from "../state/run-state.js";
import { endStatusFields } from "../status/end-status-fields.js";
import { changePhase } from "../status/update-phase.js";
import { rfc3339Millis } from "../time/rfc3339.js";

/** `dynamicNodeStatus.phase` between the end of the attempt and the start of its graph. */
export const PARENT_FINALIZED = 4;

/**
 * Marks the attempt as ended with a spec that must be read. The node releases its slot, since nodes
 * below it take their own. The deck stays in the status, since later events name it.
 */
export function markDynamic(state: RunState, node: RuntimeNode, deckUri: string): void {
  state.usage.releaseSlot(node);
  const task = { ...node.status.TaskNodeStatus, phase: TaskPhase.Success, updAt: rfc3339Millis(state.observation.now) };
  state.status.setNode(node, {
    ...changePhase(node.status, { phase: NodePhase.Running, message: "dynamic", now: state.observation.now }),
    TaskNodeStatus: task,
    dynamicNodeStatus: { phase: PARENT_FINALIZED },
    ...endStatusFields({ deckUri }, node.attemptDir),
  });
  scheduleTimers(state, node);
  state.queues.enqueueNode(node);
}
