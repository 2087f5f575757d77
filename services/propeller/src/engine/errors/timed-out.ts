import { NodePhase } from "@flyte-ts/domain/phase";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import type { RuntimeNode } from "../graph/runtime.js";

/**
 * Error of a node that exceeded its timeout over all attempts (Go Flyte's wording); its status
 * holds at most the error of an earlier attempt.
 */
export const TIMED_OUT: ExecutionErrorJson = { code: "Timeout", kind: "USER", message: "Timeout in node" };

/** Error of a failed node. */
export function failureErrorOf(node: RuntimeNode | undefined): ExecutionErrorJson {
  const { phase, error } = node?.status ?? {};
  return phase === NodePhase.TimedOut ? TIMED_OUT : (error ?? TIMED_OUT);
}
