import { NodePhase, TaskPhase } from "@flyte-ts/domain/phase";
import type { RuntimeNode } from "../graph/runtime.js";
import { scheduleTimers } from "../requests/requests.js";
import type { RunState } from "../state/run-state.js";
import { changePhase } from "../status/update-phase.js";
import { rfc3339Millis } from "../time/rfc3339.js";

/** `dynamicNodeStatus.phase` while the attempt has ended and its graph is not entered. */
export const PARENT_FINALIZED = 4;

/** The attempt has ended and its spec must be read. Nodes below it take slots of their own. */
export function markDynamic(state: RunState, node: RuntimeNode, deckUri: string): void {
  node.changeGraph().setDeckUri(deckUri);
  state.usage.releaseSlot(node);
  const task = { ...node.status.TaskNodeStatus, phase: TaskPhase.Success, updAt: rfc3339Millis(state.observation.now) };
  state.status.setNode(node, {
    ...changePhase(node.status, { phase: NodePhase.Running, message: "dynamic", now: state.observation.now }),
    TaskNodeStatus: task,
    dynamicNodeStatus: { phase: PARENT_FINALIZED },
  });
  scheduleTimers(state, node);
  state.queues.enqueueNode(node);
}
