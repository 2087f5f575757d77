import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { eventFields } from "../event/event-fields.js";
import type { OwningWorkflow } from "../plugin.js";

/** Identity of an attempt, kept in its record for a process that has not seen its request. */
export interface RecordedAttempt {
  /** Uid of the FlyteWorkflow resource. */
  readonly ownerUid: string;
  /** The part of the request that an abort and its events need. */
  readonly request: TaskRequest;
}

/** Leaves out plugin state: the record itself has the task. */
export function recordedAttempt(request: TaskRequest, ownerUid: string): RecordedAttempt {
  return { ownerUid, request: { ...eventFields(request), pluginState: new Uint8Array() } };
}

/** True for an attempt of this resource; a later execution of the same name is another one. */
export function isOwnedBy({ ownerUid, request }: RecordedAttempt, { workflowKey, owner }: OwningWorkflow): boolean {
  return request.workflowKey === workflowKey && ownerUid === (owner?.uid ?? "");
}

export function encodeRecordedAttempt({ ownerUid, request }: RecordedAttempt): { readonly ownerUid: string; readonly attempt: string } {
  return { ownerUid, attempt: Buffer.from(toBinary(TaskRequestSchema, create(TaskRequestSchema, request))).toString("base64") };
}

/** Undefined for bytes that are no request. */
export function decodeRecordedAttempt({
  ownerUid,
  attempt,
}: {
  readonly ownerUid: string;
  readonly attempt: string;
}): RecordedAttempt | undefined {
  try {
    return { ownerUid, request: fromBinary(TaskRequestSchema, Buffer.from(attempt, "base64")) };
  } catch {
    return undefined;
  }
}
