import { type CreatedTask, decodeRecord, encodeRecord, type RecordedTask } from "./created-task.js";
import type { DataStore } from "../result/read-result.js";
import type { RecordedAttempt } from "./recorded-attempt.js";

export type { RecordedTask } from "./created-task.js";

/** Maximum size of a record, bytes, far above a connector's `resource_meta` in base64. */
const MAX_RECORD_BYTES = 96 * 1024 * 1024;
const FILE_NAME = "connector-task.json";

/**
 * Returns the URI of an attempt's creation record. The record is written before and after
 * CreateTask, so that a later process notices an exit between the two.
 */
export function recordUri(outputPrefix: string): string {
  return `${outputPrefix}/${FILE_NAME}`;
}

/**
 * Records that the creation begins. Returns the earlier record instead when there is one.
 *
 * @throws BlobUnavailableError
 */
export async function beginCreation(store: DataStore, outputPrefix: string, attempt: RecordedAttempt): Promise<RecordedTask | undefined> {
  const result = await store.put(recordUri(outputPrefix), encodeRecord("begun", attempt), { ifAbsent: true });
  return result === "written" ? undefined : ((await readRecord(store, outputPrefix)) ?? "begun");
}

/** Records the created task. @throws BlobUnavailableError */
export async function recordCreated(
  store: DataStore,
  outputPrefix: string,
  { task, attempt }: { readonly task: CreatedTask; readonly attempt: RecordedAttempt },
): Promise<void> {
  await store.put(recordUri(outputPrefix), encodeRecord(task, attempt));
}

/** Records that nothing of the attempt runs. @throws BlobUnavailableError */
export async function recordStopped(store: DataStore, outputPrefix: string): Promise<void> {
  await store.put(recordUri(outputPrefix), encodeRecord("stopped"));
}

/** Reads the record; undefined when the creation has not begun. @throws BlobUnavailableError */
export async function readRecord(store: DataStore, outputPrefix: string): Promise<RecordedTask | undefined> {
  const bytes = await store.get(recordUri(outputPrefix), { maxBytes: MAX_RECORD_BYTES });
  return bytes === undefined ? undefined : decodeRecord(bytes).task;
}

/**
 * Reads the records below a folder whose tasks may run, except those of known attempts.
 *
 * @throws BlobUnavailableError
 */
export async function* readRecordsBelow(
  store: DataStore,
  folder: string,
  isKnown: (outputPrefix: string) => boolean,
): AsyncGenerator<RecordedAttempt> {
  for await (const { uri } of store.list(`${folder}/`)) {
    if (!uri.endsWith(`/${FILE_NAME}`) || isKnown(uri.slice(0, -FILE_NAME.length - 1))) continue;
    const bytes = await store.get(uri, { maxBytes: MAX_RECORD_BYTES });
    const { task, attempt } = bytes === undefined ? {} : decodeRecord(bytes);
    if (attempt !== undefined && task !== "stopped") yield attempt;
  }
}
