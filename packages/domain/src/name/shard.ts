import { fnv32a } from "./hash.js";

/** Number of partitions of executions: `shard-key` label, message subjects, leases. */
export const SHARD_COUNT = 32;

const CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789";

/** Partition of an execution, 0 to 31. */
export function shardOf(executionName: string): number {
  return fnv32a(executionName) % SHARD_COUNT;
}

/** Folder of two characters that spreads raw outputs over a bucket's partitions. */
export function rawOutputShard(uniqueId: string): string {
  const index = fnv32a(uniqueId) % (CHARACTERS.length * CHARACTERS.length);
  return CHARACTERS.charAt(Math.floor(index / CHARACTERS.length)) + CHARACTERS.charAt(index % CHARACTERS.length);
}
