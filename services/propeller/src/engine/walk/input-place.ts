import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { boundPart, inLists } from "../array/items.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { sizeOf } from "./outputs.js";
import type { Walk } from "./walk.js";

/** Transport of inputs: in messages, in a file of their own, or in the file of the item's array. */
export type InputPlace = "message" | "file" | "arrayFile";

export function inputPlace(walk: Walk, node: RuntimeNode, inputs: LiteralMap): InputPlace {
  const { inlineLimit } = walk.config;
  if (sizeOf(inputs) <= inlineLimit) return "message";
  const { array } = node.scope;
  // Bound inputs, the same for all items, are not written once for each.
  return array?.lists === true && sizeOf(boundPart(inputs, array.boundInputs)) > inlineLimit ? "arrayFile" : "file";
}

/** True when a file also holds inputs that messages carry: task executions name it. Items of arrays have none of their own. */
export function storesInputs({ config }: Walk, { model, scope }: RuntimeNode): boolean {
  const { kind } = model.target;
  return config.storesInputs && (kind === "task" || kind === "array") && scope.array?.tells !== "items";
}

/** Inputs that accompany an event, because no file holds them. */
export function inputsBeside(walk: Walk, node: RuntimeNode): LiteralMap | undefined {
  return node.inputsWritten || storesInputs(walk, node) ? undefined : node.inputs;
}

/** Contents of a node's inputs file. */
export function fileOf(node: RuntimeNode, inputs: LiteralMap): LiteralMap {
  const { array } = node.scope;
  return array?.lists === true ? inLists(inputs, array.boundInputs) : inputs;
}
