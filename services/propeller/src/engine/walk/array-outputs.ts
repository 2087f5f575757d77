import { create } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ArrayRun } from "../array/run.js";
import { itemId } from "../array/items.js";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { arraySucceeded } from "../handler/array.js";
import type { NodeDecision } from "../handler/decision.js";
import { outputsOf, wantOutputsOf } from "./outputs.js";
import type { Walk } from "./walk.js";

/** Maximum of item blobs requested concurrently. */
const AT_ONCE = 200;

/** End of an array: collects its outputs from the items, reading blobs as needed. */
export function arrayEnded(walk: Walk, node: RuntimeNode, inner: Scope, array: ArrayRun): NodeDecision {
  if (inner.error !== undefined) return { kind: "fail", error: inner.error };
  const items: (LiteralMap | undefined)[] = [];
  let asked = 0;
  for (let index = 0; index < array.size && asked < AT_ONCE; index++) {
    const item = inner.nodes.get(itemId(index));
    const outputs = item?.succeeded === true ? (outputsOf(walk, item) ?? noneDeclared(item)) : undefined;
    if (item?.succeeded === true && outputs === undefined) {
      const error = wantOutputsOf(walk, node, item);
      if (error !== undefined) return { kind: "fail", error };
      asked++;
    }
    items.push(outputs);
  }
  if (asked > 0) return { kind: "wait" };
  walk.blobs.release(node);
  return arraySucceeded(node, items);
}

/** A raw container without outputs writes no outputs blob: there is nothing to read. */
function noneDeclared({ model, scope }: RuntimeNode): LiteralMap | undefined {
  const outputs = model.target.kind === "task" ? scope.definitions.tasks.get(model.target.task)?.interface?.outputs : undefined;
  return outputs !== undefined && Object.keys(outputs.variables).length === 0 ? create(LiteralMapSchema) : undefined;
}
