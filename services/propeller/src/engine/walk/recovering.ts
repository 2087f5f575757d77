import { create } from "@bufbuild/protobuf";
import { NodeExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { outputsUri } from "../data/paths.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeDecision } from "../handler/decision.js";
import { isReusable, mayBeRecovered } from "../recovery/reusable.js";
import { ask, forget } from "./asking.js";
import { isBound } from "./outputs.js";
import type { Walk } from "./walk.js";

/** Next step of a node of a recovering execution. */
export type RecoveryWord =
  | { readonly kind: "goOn" }
  /** A result is pending; the node is reconciled again. */
  | { readonly kind: "wait" }
  | { readonly kind: "reuse"; readonly success: Extract<NodeDecision, { kind: "succeed" }> };

const GO_ON: RecoveryWord = { kind: "goOn" };

/** Looks up, before the node starts, its outcome in the recovered execution. */
export function lookBack(walk: Walk, node: RuntimeNode, inputs: LiteralMap): RecoveryWord {
  const executionId = walk.model.options.recoveryExecution;
  if (executionId === undefined || node.lookedBack || !mayBeRecovered(node)) return GO_ON;
  const id = create(NodeExecutionIdentifierSchema, { nodeId: node.uniqueId, executionId });
  const answer = ask(walk, node, { kind: "readFormerNode", id });
  if (answer === undefined) return { kind: "wait" };
  forget(walk, node, "readFormerNode");
  node.lookedBack = true;
  const former = answer.kind === "value" ? answer.value : undefined;
  if (former === undefined) return GO_ON;
  if (!isReusable(former, { inputs, task: walk.taskIdOf(node), isBound: isBound(node) })) {
    // A task may continue from the failed node's checkpoint.
    if (!former.succeeded && former.checkpointUri !== "") node.formerCheckpoint = former.checkpointUri;
    return GO_ON;
  }
  node.recovered = former;
  walk.count("nodeRecovered");
  const outputs = former.outputs === undefined ? undefined : { value: former.outputs, uri: outputsUri(node.attemptDir) };
  return { kind: "reuse", success: { kind: "succeed", outputs } };
}
