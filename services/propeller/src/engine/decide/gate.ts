import { create } from "@bufbuild/protobuf";
import { type Literal, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { GateNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { CallOutcome } from "../calls/call.js";
import { outputsUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "./decision.js";

/** A gate delays its dependents: for a duration, or until a signal or approval. */
export function gateCondition(gate: GateNode): NodeDecision {
  const { condition } = gate;
  switch (condition.case) {
    case "sleep": {
      const { seconds = 0n, nanos = 0 } = condition.value.duration ?? {};
      return { kind: "sleep", durationMs: Number(seconds) * 1_000 + Math.ceil(nanos / 1e6) };
    }
    case "signal":
      return { kind: "awaitSignal", gate, signalId: condition.value.signalId, type: condition.value.type };
    case "approve":
      return { kind: "awaitSignal", gate, signalId: condition.value.signalId, type: BOOLEAN };
    case undefined:
      return systemError("BadSpecificationError", "gateNode does not have a supported condition reference");
  }
}

const BOOLEAN = create(LiteralTypeSchema, { type: { case: "simple", value: SimpleType.BOOLEAN } });

/**
 * The signal's value is the output; an approval passes the inputs on, or fails the node (Go Flyte's
 * wording).
 */
export function onSignal(node: RuntimeNode, { condition }: GateNode, value: Literal): NodeDecision {
  const uri = outputsUri(node.attemptDir);
  if (condition.case === "signal") {
    const outputs = create(LiteralMapSchema, { literals: { [condition.value.outputVariableName]: value } });
    return { kind: "succeed", outputs: { value: outputs, uri } };
  }
  const approved = booleanOf(value);
  if (approved === undefined) {
    const message = "received a non-boolean approve signal value";
    return { kind: "fail", error: { code: "RuntimeExecutionError", kind: "UNKNOWN", message } };
  }
  if (approved) return { kind: "succeed", outputs: { value: node.data.inputs, uri } };
  const message = "received a reject signal to disapprove the node input values";
  return { kind: "fail", error: { code: "ReceivedRejectSignal", kind: "USER", message } };
}

/** The signal is unavailable: for example, one of another type has its name. */
export function onSignalRefused(refused: CallOutcome<unknown>): NodeDecision {
  const why = refused.kind === "refused" ? `${refused.code}: ${refused.message}` : "it has no value";
  return systemError("RuntimeExecutionError", `failed to get the signal of the gate: ${why}`);
}

function booleanOf(literal: Literal): boolean | undefined {
  if (literal.value.case !== "scalar" || literal.value.value.value.case !== "primitive") return undefined;
  const { value } = literal.value.value.value.value;
  return value.case === "boolean" ? value.value : undefined;
}

function systemError(code: string, message: string): NodeDecision {
  return { kind: "fail", error: { code, kind: "SYSTEM", message } };
}
