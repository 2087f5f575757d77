import type { GateNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { NodeDecision } from "./decision.js";
import { unsupported } from "./unsupported.js";

/** A gate holds up what follows it: for a time, or until somebody says so. */
export function closeGate({ condition }: GateNode, id: string): NodeDecision {
  if (condition.case !== "sleep") return unsupported("GateNode", `gate node [${id}], which waits for a signal or an approval,`);
  const { seconds = 0n, nanos = 0 } = condition.value.duration ?? {};
  return { kind: "sleep", durationMs: Number(seconds) * 1_000 + Math.ceil(nanos / 1e6) };
}
