import { type CreatedTask, decodeState, encodeTask } from "./created-task.js";
import type { DataStore } from "../result/read-result.js";

/** Content of a record: the created task, or `begun` when its creation has no known result. */
export type CreationRecord = CreatedTask | "begun";

/** Maximum size of a record, bytes, far above a connector's `resource_meta` in base64. */
const MAX_RECORD_BYTES = 96 * 1024 * 1024;

/**
 * Returns the URI of an attempt's creation record. The record is written before and after
 * CreateTask, so that a later process notices an exit between the two.
 */
export function recordUri(outputPrefix: string): string {
  return `${outputPrefix}/connector-task.json`;
}

/**
 * Records that the creation begins. Returns the earlier record instead when there is one.
 *
 * @throws BlobUnavailableError
 */
export async function beginCreation(store: DataStore, outputPrefix: string): Promise<CreationRecord | undefined> {
  const uri = recordUri(outputPrefix);
  const result = await store.put(uri, Buffer.from(JSON.stringify({ v: 1, begun: true })), { ifAbsent: true });
  return result === "written" ? undefined : ((await readRecord(store, outputPrefix)) ?? "begun");
}

/** Records the created task. @throws BlobUnavailableError */
export async function recordCreated(store: DataStore, outputPrefix: string, task: CreatedTask): Promise<void> {
  await store.put(recordUri(outputPrefix), encodeTask(task));
}

/** Reads the record; undefined when the creation has not begun. @throws BlobUnavailableError */
export async function readRecord(store: DataStore, outputPrefix: string): Promise<CreationRecord | undefined> {
  const bytes = await store.get(recordUri(outputPrefix), { maxBytes: MAX_RECORD_BYTES });
  if (bytes === undefined) return undefined;
  const task = decodeState(bytes);
  return task === undefined || task === "inRecord" ? "begun" : task;
}
