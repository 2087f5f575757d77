import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { START_NODE } from "../graph/index-graph.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "../decide/decision.js";
import { attemptStarted } from "../status/update-phase.js";
import { scheduleTimers } from "../requests/requests.js";
import { fitsInline, sizeOf, writeOutputs } from "../data/outputs.js";
import { succeedNode } from "./end-node.js";
import { publishNodeEvent } from "../events/publish-event.js";
import type { RunState } from "../state/run-state.js";

/** Marks the node's attempt as running; publishes the first one. */
export function markRunning(state: RunState, node: RuntimeNode, more: Partial<RuntimeNode["status"]>): void {
  const first = node.status.startedAt === undefined;
  node.changeAttempt().started(state.observation.now);
  state.status.setNode(node, { ...attemptStarted(node.status, state.observation.now), ...more });
  if (first) publishNodeEvent(state, node, { phase: NodeExecution_Phase.RUNNING }, state.observation.effectTimingFor(node));
  scheduleTimers(state, node);
}

/** Outputs too large for the status are written first. */
export function succeedAfterWrite(state: RunState, node: RuntimeNode, { outputs }: Extract<NodeDecision, { kind: "succeed" }>): void {
  const value = outputs?.value;
  if (value === undefined || node.id === START_NODE || fitsInline(state, sizeOf(value))) {
    succeedNode(state, node, { outputs });
    return;
  }
  writeOutputs(state, node, value, { value: undefined, deckUri: "", cleanup: state.config.deleteResourcesOnFinalize });
}
