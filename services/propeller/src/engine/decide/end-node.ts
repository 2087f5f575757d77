import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { outputsUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "./decision.js";

/** The end node's outputs are its inputs: the outputs of the graph. Its events name no outputs. */
export function endNodeOutputs(node: RuntimeNode, inputs: LiteralMap): NodeDecision {
  // Inputs too large for messages are in the blob store already.
  const outputs = node.data.inputsInBlobStore
    ? { value: undefined, uri: node.inputsUri }
    : { value: inputs, uri: outputsUri(node.attemptDir) };
  return { kind: "succeed", outputs };
}
