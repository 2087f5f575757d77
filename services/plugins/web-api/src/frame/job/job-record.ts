import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import { eventFields, RetryLater } from "@flyte-ts/task-plugin";
import {
  AttemptRecords,
  decodeRecordedAttempt,
  encodeRecordedAttempt,
  type RecordedAttempt,
  type RecordStore,
} from "@flyte-ts/task-plugin/files";
import { z } from "zod";
import { apiOfState, encodeNothing } from "./plugin-state.js";

/**
 * Record of an attempt in the blob store, written before and after its job is created. Its request
 * has the plugin state of that time and what finds and ends the job, without inputs.
 */
export interface JobRecord {
  readonly attempt: RecordedAttempt | undefined;
  /** True when nothing of the attempt runs any more, nor may be started. */
  readonly stopped: boolean;
}

export type JobRecords = AttemptRecords<JobRecord>;

/** Maximum size of a record, bytes: templates have some kilobytes. */
const MAX_RECORD_BYTES = 16 * 1024 * 1024;

const schema = z.object({ v: z.literal(1), stopped: z.boolean(), ownerUid: z.string(), attempt: z.base64() });

export function jobRecords(store: RecordStore): JobRecords {
  return new AttemptRecords(store, {
    fileName: "web-api-job.json",
    maxBytes: MAX_RECORD_BYTES,
    encode,
    decode,
    attempt: ({ attempt }) => attempt,
    mayRun: ({ stopped }) => !stopped,
  });
}

export function recordOf(request: TaskRequest, pluginState: Uint8Array, { stopped = false } = {}): JobRecord {
  const { template, rawOutputPrefix, owner } = request;
  const kept = { ...eventFields(request), template, rawOutputPrefix, owner, pluginState };
  return { attempt: { ownerUid: owner?.uid ?? "", request: kept }, stopped };
}

/**
 * Returns the request to finalize an attempt with the plugin state of its record. Propeller keeps
 * neither the state of an end nor, once another attempt follows, that of its progress.
 *
 * @throws RetryLater while the blob store does not answer
 */
export async function withRecordedState(request: TaskRequest, records: Pick<JobRecords, "read">): Promise<TaskRequest> {
  if (request.outputPrefix === "") return request;
  try {
    const record = await records.read(request);
    if (record?.attempt === undefined) return request;
    const { pluginState } = record.attempt.request;
    return { ...request, pluginState: record.stopped ? encodeNothing(apiOfState(pluginState) ?? "") : pluginState };
  } catch (error) {
    if (!(error instanceof BlobUnavailableError)) throw error;
    throw new RetryLater(`the record of the job cannot be read: ${error.message}`, { cause: error });
  }
}

function encode({ attempt, stopped }: JobRecord): Uint8Array {
  return Buffer.from(JSON.stringify({ v: 1, stopped, ...(attempt && encodeRecordedAttempt(attempt)) }));
}

function decode(bytes: Uint8Array): JobRecord {
  try {
    const { stopped, ...attempt } = schema.parse(JSON.parse(Buffer.from(bytes).toString()));
    return { attempt: decodeRecordedAttempt(attempt), stopped };
  } catch {
    return { attempt: undefined, stopped: false };
  }
}
