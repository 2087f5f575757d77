import type { BoundInputs } from "@flyte-ts/domain/binding";
import { literalMap } from "@flyte-ts/domain/literal";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { itemIndex, elementInputs } from "../array/items.js";
import type { RuntimeNode } from "../graph/runtime.js";
import type { RunState } from "../state/run-state.js";

/**
 * Returns an array's inputs with lists from the blob store by value, or the addresses of lists that
 * have not been read yet.
 */
export function resolveOffloadedLists(state: RunState, array: RuntimeNode, inputs: LiteralMap): BoundInputs {
  const { target } = array.model;
  const bound = target.kind === "array" ? target.array.boundInputs : [];
  const missing: string[] = [];
  const byValue = Object.entries(inputs.literals).map(([name, literal]): readonly [string, Literal] => {
    if (literal.value.case !== "offloadedMetadata" || bound.includes(name)) return [name, literal];
    const { uri } = literal.value.value;
    const value = state.blobReads.literal(uri);
    if (value === undefined) missing.push(uri);
    return [name, value ?? literal];
  });
  return missing.length > 0 ? { offloaded: missing } : { literals: literalMap(byValue) };
}

/** Derives an item's inputs from those of its array. */
export function itemInputs(item: RuntimeNode, arrayInputs: LiteralMap): LiteralMap {
  return elementInputs(arrayInputs, itemIndex(item.id), item.scope.array?.boundInputs ?? []);
}
