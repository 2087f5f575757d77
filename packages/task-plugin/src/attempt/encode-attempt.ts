import { decodeMessage, encodeMessage } from "@flyte-ts/proto-codec";
import { type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { eventFields } from "../event/event-fields.js";

/**
 * Encodes an attempt as text to keep beside its job: the request without its inputs and its
 * template. A later process passes the decoded attempt to `publishStatus` or returns it from
 * `listAttempts`.
 */
export function encodeAttempt(request: TaskRequest): string {
  return Buffer.from(encodeMessage(TaskRequestSchema, eventFields(request))).toString("base64url");
}

/** @throws Error when the text was not returned by `encodeAttempt` */
export function decodeAttempt(text: string): TaskRequest {
  return decodeMessage(TaskRequestSchema, Buffer.from(text, "base64url"));
}
