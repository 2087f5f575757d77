import { literalMap } from "@flyte-ts/domain";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { itemIndex, itemInputs } from "../array/items.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { NodeInputs } from "./node-inputs.js";
import type { Walk } from "./walk.js";
import { wantLiterals } from "./want-literals.js";

/** An array's inputs with lists by value that stand in the blob store; `waiter` is looked at again when they are there. */
export function listsByValue(walk: Walk, waiter: RuntimeNode, array: RuntimeNode, inputs: LiteralMap): NodeInputs {
  const { target } = array.model;
  const bound = target.kind === "array" ? target.array.boundInputs : [];
  const missing: string[] = [];
  const byValue = Object.entries(inputs.literals).map(([name, literal]): readonly [string, Literal] => {
    if (literal.value.case !== "offloadedMetadata" || bound.includes(name)) return [name, literal];
    const { uri } = literal.value.value;
    const value = walk.blobs.literal(uri);
    if (value === undefined) missing.push(uri);
    return [name, value ?? literal];
  });
  if (missing.length > 0) return wantLiterals(walk, waiter, missing) ?? { kind: "waiting" };
  return { kind: "ready", inputs: literalMap(byValue) };
}

/** An item's inputs out of those of its array. */
export function ownInputs(item: RuntimeNode, arrayInputs: LiteralMap): LiteralMap {
  return itemInputs(arrayInputs, itemIndex(item.id), item.scope.array?.boundInputs ?? []);
}
