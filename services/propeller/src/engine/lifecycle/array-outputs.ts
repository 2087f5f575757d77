import { create } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ArrayState } from "../array/array-state.js";
import { itemId } from "../array/items.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { arraySucceeded } from "../decide/array.js";
import type { NodeDecision } from "../decide/decision.js";
import { outputsOf, requestNodeOutputs } from "../data/outputs.js";
import type { RunState } from "../state/run-state.js";

/** Maximum of item blobs requested concurrently. */
const MAX_CONCURRENT_READS = 200;

/** End of an array: collects its outputs from the items, reading blobs as needed. */
export function onArrayEnded(state: RunState, node: RuntimeNode, childScope: Scope, array: ArrayState): NodeDecision {
  if (childScope.error !== undefined) return { kind: "fail", error: childScope.error };
  const items: (LiteralMap | undefined)[] = [];
  let pending = 0;
  for (let index = 0; index < array.size && pending < MAX_CONCURRENT_READS; index++) {
    const item = childScope.nodes.get(itemId(index));
    const outputs = item?.hasSucceeded === true ? (outputsOf(state, item) ?? declaresNoItemOutputs(item)) : undefined;
    if (item?.hasSucceeded === true && outputs === undefined) {
      const error = requestNodeOutputs(state, node, item);
      if (error !== undefined) return { kind: "fail", error };
      pending++;
    }
    items.push(outputs);
  }
  if (pending > 0) return { kind: "wait" };
  state.blobReads.unsubscribe(node);
  return arraySucceeded(node, items);
}

/** A raw container without outputs writes no outputs blob: there is nothing to read. */
function declaresNoItemOutputs({ model, scope }: RuntimeNode): LiteralMap | undefined {
  const outputs = model.target.kind === "task" ? scope.definitions.tasks.get(model.target.task)?.interface?.outputs : undefined;
  return outputs !== undefined && Object.keys(outputs.variables).length === 0 ? create(LiteralMapSchema) : undefined;
}
