import { z } from "zod";
import { decodeRecordedAttempt, encodeRecordedAttempt, type RecordedAttempt } from "@flyte-ts/task-plugin/files";

/** A task that a connector has created. */
export interface CreatedTask {
  /** Name of the endpoint. */
  readonly endpoint: string;
  readonly taskType: string;
  readonly version: number;
  /** The connector's id of the task, opaque. It may hold credentials and must not be logged. */
  readonly resourceMeta: Uint8Array;
}

/** Plugin state: the fact that the record has the task, or with older builds the task itself. */
export type StateTask = CreatedTask | "inRecord";

/**
 * Task of a record: `begun` while its creation has no known result, `stopped` after an abort, and
 * `ended` when the connector has answered, and nothing of it runs: a synchronous task, or one that
 * could not be created.
 */
export type RecordedTask = CreatedTask | "begun" | "stopped" | "ended";

/** Record of an attempt; that of an older build names no attempt. */
export interface CreationRecord {
  readonly task: RecordedTask;
  /**
   * Identifies who wrote `begun`: a process whose write got no answer recognizes its own record.
   */
  readonly writer?: string | undefined;
  readonly attempt?: RecordedAttempt | undefined;
  /** True when the attempt has failed while its job may still run. */
  readonly isLost?: boolean;
}

const stateSchema = z.object({
  v: z.literal(1),
  endpoint: z.string(),
  taskType: z.string(),
  taskVersion: z.int(),
  /** `resourceMeta` in base64; absent in plugin state. */
  meta: z.base64().optional(),
});
const stoppedSchema = z.object({ v: z.literal(1), stopped: z.literal(true) });
const endedSchema = z.object({ v: z.literal(1), ended: z.literal(true) });
const begunSchema = z.object({ begun: z.literal(true), writer: z.string() });
const lostSchema = z.object({ lost: z.literal(true) });
const attemptSchema = z.object({ ownerUid: z.string(), attempt: z.base64() });

/**
 * Encodes plugin state, a part of the FlyteWorkflow resource. It leaves out `resource_meta`, which
 * may hold credentials.
 */
export function encodeState({ endpoint, taskType, version }: CreatedTask): Uint8Array {
  return jsonBytes({ v: 1, endpoint, taskType, taskVersion: version });
}

/** Decodes plugin state; undefined for other bytes. */
export function decodeState(bytes: Uint8Array): StateTask | undefined {
  if (bytes.length === 0) return undefined;
  const { success, data } = stateSchema.safeParse(parseJson(bytes));
  if (!success) return undefined;
  const { endpoint, taskType, taskVersion: version, meta } = data;
  return meta === undefined ? "inRecord" : { endpoint, taskType, version, resourceMeta: Buffer.from(meta, "base64") };
}

/** Encodes the record of a creation. Older builds read `stopped` and `ended` as `begun`. */
export function encodeRecord({ task, writer, attempt, isLost = false }: CreationRecord): Uint8Array {
  const fields = typeof task === "string" ? { v: 1, [task]: true } : taskFields(task);
  return jsonBytes({
    ...fields,
    ...(task === "begun" && { writer }),
    ...(isLost && { lost: true }),
    ...(attempt && encodeRecordedAttempt(attempt)),
  });
}

/** Decodes a record; other bytes are a creation that has begun. Older builds name no attempt. */
export function decodeRecord(bytes: Uint8Array): CreationRecord {
  const json = parseJson(bytes);
  const named = attemptSchema.safeParse(json);
  const attempt = named.success ? decodeRecordedAttempt(named.data) : undefined;
  if (stoppedSchema.safeParse(json).success) return { task: "stopped", attempt };
  if (endedSchema.safeParse(json).success) return { task: "ended", attempt };
  const task = decodeState(bytes);
  if (task === undefined || task === "inRecord") return { task: "begun", attempt, writer: begunSchema.safeParse(json).data?.writer };
  return { task, attempt, ...(lostSchema.safeParse(json).success && { isLost: true }) };
}

function taskFields({ endpoint, taskType, version, resourceMeta }: CreatedTask) {
  return { v: 1, endpoint, taskType, taskVersion: version, meta: Buffer.from(resourceMeta).toString("base64") };
}

function jsonBytes(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}
