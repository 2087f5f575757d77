import { create } from "@bufbuild/protobuf";
import { type KeyValuePair, KeyValuePairSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type ArrayItem, ArrayItemSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { itemIndex } from "../array/items.js";
import type { RuntimeNode } from "../graph/runtime.js";

/** How an item's inputs stand in its file; undefined for nodes that are no items. */
export function arrayItem(node: RuntimeNode): ArrayItem | undefined {
  const { array } = node.scope;
  if (array === undefined) return undefined;
  return create(ArrayItemSchema, {
    index: itemIndex(node.id),
    lists: array.lists,
    position: positionOf(node),
    boundInputs: [...array.boundInputs],
  });
}

/** Where in its lists the program finds its values: in lists of its own there is but one. */
function positionOf(node: RuntimeNode): number {
  return node.sharesInputs ? itemIndex(node.id) : 0;
}

/**
 * What tells flytekit's map tasks which item they are: the variable of Go Flyte, and
 * an offset that leads from the item's index to its place in the lists of its file.
 */
export function itemEnvironment(node: RuntimeNode): readonly KeyValuePair[] {
  const { array } = node.scope;
  if (array === undefined) return [];
  const index = itemIndex(node.id);
  const offset = positionOf(node) - index;
  return [
    pair("BATCH_JOB_ARRAY_INDEX_VAR_NAME", "FLYTE_K8S_ARRAY_INDEX"),
    pair("FLYTE_K8S_ARRAY_INDEX", String(index)),
    ...(array.lists && offset !== 0 ? [pair("BATCH_JOB_ARRAY_INDEX_OFFSET", String(offset))] : []),
  ];
}

function pair(key: string, value: string): KeyValuePair {
  return create(KeyValuePairSchema, { key, value });
}
