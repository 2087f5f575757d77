import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeInputs } from "./node-inputs.js";
import type { RunState } from "../state/run-state.js";

/** Requests literals from the blob store; the node is reconciled again when they have been read. */
export function requestLiterals(state: RunState, waiter: RuntimeNode, uris: readonly string[]): NodeInputs | undefined {
  for (const uri of uris) {
    const lost = state.blobReads.failureReason(uri);
    if (lost !== undefined) return { kind: "error", error: bindingError(waiter, `Literal ${lost}`) };
    const effect = state.blobReads.request(waiter, "literal", uri);
    if (effect !== undefined) state.effects.emit(effect);
  }
  return undefined;
}

export function bindingError(node: RuntimeNode, message: string): ExecutionErrorJson {
  return { code: "BindingResolutionFailure", kind: "SYSTEM", message: `Failed to bind inputs of node [${node.id}]: ${message}` };
}
