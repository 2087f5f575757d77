import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { boundInputsOf, wrapInLists } from "../array/items.js";
import type { RuntimeNode } from "../graph/runtime.js";
import { sizeOf } from "./outputs.js";
import type { RunState } from "../state/run-state.js";

/** Transport of inputs: in messages, in a file of their own, or in the file of the item's array. */
export type InputLocation = "message" | "file" | "arrayFile";

export function inputLocation(state: RunState, node: RuntimeNode, inputs: LiteralMap): InputLocation {
  const { maxInlineOutputBytes } = state.config;
  if (sizeOf(inputs) <= maxInlineOutputBytes) return "message";
  const { array } = node.scope;
  // Bound inputs, the same for all items, are not written once for each.
  return array?.inputsAreLists === true && sizeOf(boundInputsOf(inputs, array.boundInputs)) > maxInlineOutputBytes ? "arrayFile" : "file";
}

/**
 * True when a file holds the inputs even though messages carry them, so that task executions can
 * name the file. Items of arrays have no such file.
 */
export function storesInputsFile({ config }: RunState, { model, scope }: RuntimeNode): boolean {
  const { kind } = model.target;
  return config.storesInputs && (kind === "task" || kind === "array") && scope.array?.reportsItemsAs !== "items";
}

/** Inputs that accompany an event, because no file holds them. */
export function inlineEventInputs(state: RunState, node: RuntimeNode): LiteralMap | undefined {
  return node.data.inputsInBlobStore || storesInputsFile(state, node) ? undefined : node.data.inputs;
}

/** Contents of a node's inputs file. */
export function inputsFileContents(node: RuntimeNode, inputs: LiteralMap): LiteralMap {
  const { array } = node.scope;
  return array?.inputsAreLists === true ? wrapInLists(inputs, array.boundInputs) : inputs;
}
