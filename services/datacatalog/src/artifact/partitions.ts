import type { Partition } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { requireNonEmpty, invalidArgument } from "../rpc-errors.js";

/**
 * Checks that an artifact has one value for each partition key of its dataset, and no others.
 *
 * @throws RpcError INVALID_ARGUMENT naming the mismatch.
 */
export function checkPartitions(keys: readonly string[], partitions: readonly Partition[]): void {
  const given = partitions.map(({ key }) => key);
  if (keys.length !== partitions.length) {
    throw invalidArgument(`Partition key mismatch, dataset keys: [${keys.join(" ")}], artifact Partitions: [${given.join(" ")}]`);
  }
  for (const [index, { key, value }] of partitions.entries()) {
    requireNonEmpty(key, `partitionKey[${index}]`);
    requireNonEmpty(value, `partitionValue[${index}]`);
    if (!keys.includes(key) || given.indexOf(key) < index) {
      throw invalidArgument(
        `Artifact partition assignment does not match dataset partition keys: partition ${key}, dataset keys: [${keys.join(" ")}]`,
      );
    }
  }
}
