import type { NodeDecision } from "./decision.js";

/** A kind of node that this engine does not run yet: a clear end instead of a node that never moves. */
export function unsupported(code: string, what: string): NodeDecision {
  return {
    kind: "fail",
    error: { code: `Unsupported${code}`, kind: "USER", message: `${what} is not supported by this installation yet` },
  };
}
