import { AttemptRecords, type RecordStore } from "@flyte-ts/task-plugin/files";
import { type CreationRecord, decodeRecord, encodeRecord } from "./created-task.js";

/** Maximum size of a record, bytes, far above a connector's `resource_meta` in base64. */
const MAX_RECORD_BYTES = 96 * 1024 * 1024;

/**
 * Records of creations. A record is written before and after CreateTask, so that a later process
 * notices an exit between the two.
 */
export type CreationRecords = AttemptRecords<CreationRecord>;

export function creationRecords(store: RecordStore): CreationRecords {
  return new AttemptRecords(store, {
    fileName: "connector-task.json",
    maxBytes: MAX_RECORD_BYTES,
    encode: encodeRecord,
    decode: decodeRecord,
    attempt: ({ attempt }) => attempt,
    mayRun: ({ task }) => task !== "stopped" && task !== "ended",
  });
}
