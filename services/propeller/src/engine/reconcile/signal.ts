import { create } from "@bufbuild/protobuf";
import { SignalIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { wakeupKeys } from "../calls/pending-call.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "../decide/decision.js";
import { onSignal, onSignalRefused } from "../decide/gate.js";
import { call, pollAsFallback, cancelCall } from "../dependencies/calls.js";
import { markRunning, succeedAfterWrite } from "../lifecycle/mark-running.js";
import { failNode } from "../lifecycle/end-node.js";
import type { RunState } from "../state/run-state.js";

/** Waits at a gate until its signal has a value. Called again when the result of a call arrives. */
export function awaitSignal(
  state: RunState,
  node: RuntimeNode,
  { gate, signalId, type }: Extract<NodeDecision, { kind: "awaitSignal" }>,
): void {
  if (node.currentAttempt.startedAt === undefined) markRunning(state, node, { gateNodeStatus: { phase: 1 } });
  const id = create(SignalIdentifierSchema, { signalId, executionId: state.model.executionId });
  const signal = call(state, node, { kind: "awaitSignal", id, type }, { wakeupKey: wakeupKeys.signal(signalId) });
  if (signal === undefined) return;
  if (signal.kind === "value" && signal.value === undefined) {
    pollAsFallback(state, node, "awaitSignal");
    return;
  }
  cancelCall(state, node, "awaitSignal");
  const decision = signal.kind === "refused" || signal.value === undefined ? onSignalRefused(signal) : onSignal(node, gate, signal.value);
  if (decision.kind === "succeed") succeedAfterWrite(state, node, decision);
  else if (decision.kind === "fail") failNode(state, node, decision.error);
}
