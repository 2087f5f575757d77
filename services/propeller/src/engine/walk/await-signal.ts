import { create } from "@bufbuild/protobuf";
import { SignalIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { wakes } from "../ask/asked.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "../handler/decision.js";
import { signalGiven, signalRefused } from "../handler/gate.js";
import { ask, awaitWord, forget } from "./asking.js";
import { running, succeedWithOutputs } from "./progress.js";
import { fail } from "./settle.js";
import type { Walk } from "./walk.js";

/** Waits at a gate until its signal has a value. Called again when the result of a call arrives. */
export function awaitSignal(walk: Walk, node: RuntimeNode, { gate, signalId, type }: Extract<NodeDecision, { kind: "awaitSignal" }>): void {
  if (node.attemptStartedAt === undefined) running(walk, node, { gateNodeStatus: { phase: 1 } });
  const id = create(SignalIdentifierSchema, { signalId, executionId: walk.model.executionId });
  const signal = ask(walk, node, { kind: "awaitSignal", id, type }, { wokenBy: wakes.signal(signalId) });
  if (signal === undefined) return;
  if (signal.kind === "value" && signal.value === undefined) {
    awaitWord(walk, node, "awaitSignal");
    return;
  }
  forget(walk, node, "awaitSignal");
  const decision = signal.kind === "refused" || signal.value === undefined ? signalRefused(signal) : signalGiven(node, gate, signal.value);
  if (decision.kind === "succeed") succeedWithOutputs(walk, node, decision);
  else if (decision.kind === "fail") fail(walk, node, decision.error);
}
