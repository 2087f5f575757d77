import { create } from "@bufbuild/protobuf";
import { type KeyValuePair, KeyValuePairSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type ArrayItem, ArrayItemSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { itemIndex } from "../array/items.js";
import type { RuntimeNode } from "../graph/runtime.js";

/** Describes an item's inputs in their file; undefined for nodes that are not items. */
export function arrayItem(node: RuntimeNode): ArrayItem | undefined {
  const { array } = node.scope;
  if (array === undefined) return undefined;
  return create(ArrayItemSchema, {
    index: itemIndex(node.id),
    lists: array.inputsAreLists,
    position: positionOf(node),
    boundInputs: [...array.boundInputs],
  });
}

/** Index of the item's values in the lists that the program reads: 0 in lists of its own. */
function positionOf(node: RuntimeNode): number {
  return node.data.readsArrayInputs ? itemIndex(node.id) : 0;
}

/**
 * Environment that tells flytekit's map tasks their item: Go Flyte's variable, and an offset from
 * the item's index to its index in the lists of its file.
 */
export function itemEnvironment(node: RuntimeNode): readonly KeyValuePair[] {
  const { array } = node.scope;
  if (array === undefined) return [];
  const index = itemIndex(node.id);
  const offset = positionOf(node) - index;
  return [
    pair("BATCH_JOB_ARRAY_INDEX_VAR_NAME", "FLYTE_K8S_ARRAY_INDEX"),
    pair("FLYTE_K8S_ARRAY_INDEX", String(index)),
    ...(array.inputsAreLists && offset !== 0 ? [pair("BATCH_JOB_ARRAY_INDEX_OFFSET", String(offset))] : []),
  ];
}

function pair(key: string, value: string): KeyValuePair {
  return create(KeyValuePairSchema, { key, value });
}
