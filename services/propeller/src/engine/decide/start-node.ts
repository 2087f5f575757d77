import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { outputsUri } from "../graph/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "./decision.js";

/** The start node's outputs are the graph's inputs. */
export function startNodeOutputs(node: RuntimeNode, graphInputs: LiteralMap | undefined): NodeDecision {
  return { kind: "succeed", outputs: { value: graphInputs, uri: outputsUri(node.attemptDir) } };
}
