import { z } from "zod";

/** A task that a connector has created. */
export interface CreatedTask {
  /** Name of the endpoint. */
  readonly endpoint: string;
  readonly taskType: string;
  readonly version: number;
  /** The connector's id of the task, opaque. It may hold credentials and must not be logged. */
  readonly resourceMeta: Uint8Array;
}

/** Plugin state: the task, or the fact that the creation record has it. */
export type StateTask = CreatedTask | "inRecord";

/** Maximum of plugin state, bytes. */
const MAX_STATE_BYTES = 4 * 1024;

const stateSchema = z.object({
  v: z.literal(1),
  endpoint: z.string(),
  taskType: z.string(),
  taskVersion: z.int(),
  /** `resourceMeta` in base64; absent when only the creation record holds it. */
  meta: z.base64().optional(),
});

/** Encodes plugin state; a large `resource_meta` is left to the creation record. */
export function encodeState(task: CreatedTask): Uint8Array {
  const whole = encodeTask(task);
  if (whole.length <= MAX_STATE_BYTES) return whole;
  const { endpoint, taskType, version } = task;
  return Buffer.from(JSON.stringify({ v: 1, endpoint, taskType, taskVersion: version }));
}

export function encodeTask({ endpoint, taskType, version, resourceMeta }: CreatedTask): Uint8Array {
  const meta = Buffer.from(resourceMeta).toString("base64");
  return Buffer.from(JSON.stringify({ v: 1, endpoint, taskType, taskVersion: version, meta }));
}

/** Decodes plugin state or a record of a created task; undefined for other bytes. */
export function decodeState(bytes: Uint8Array): StateTask | undefined {
  if (bytes.length === 0) return undefined;
  const { success, data } = stateSchema.safeParse(parseJson(bytes));
  if (!success) return undefined;
  const { endpoint, taskType, taskVersion: version, meta } = data;
  return meta === undefined ? "inRecord" : { endpoint, taskType, version, resourceMeta: Buffer.from(meta, "base64") };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString("utf8"));
  } catch {
    return undefined;
  }
}
