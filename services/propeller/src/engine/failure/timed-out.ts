import { NodePhase } from "@flyte-ts/domain";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";
import type { RuntimeNode } from "../graph/runtime.js";

/** The error of a node whose time over all attempts was up (the words are Go Flyte's); in its status stands at most what an earlier attempt failed with. */
export const TIMED_OUT: ExecutionErrorJson = { code: "Timeout", kind: "USER", message: "Timeout in node" };

/** What a failed node failed with. */
export function failureOf(node: RuntimeNode | undefined): ExecutionErrorJson {
  const { phase, error } = node?.status ?? {};
  return phase === NodePhase.TimedOut ? TIMED_OUT : (error ?? TIMED_OUT);
}
