import { timestampMs } from "@bufbuild/protobuf/wkt";
import { TaskExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { AttemptRecord } from "./attempt-cache.js";

/** Creation time of a request, ms; undefined when it names none. */
export function requestedAtMs({ requestedAt }: TaskRequest): number | undefined {
  return requestedAt === undefined ? undefined : timestampMs(requestedAt);
}

/** True for a request of another attempt of the record's name. */
export function isOfOtherOwner({ ownerUid }: AttemptRecord, { owner }: TaskRequest): boolean {
  const uid = owner?.uid ?? "";
  // Requests that name no owner are those of the known one.
  return uid !== "" && ownerUid !== "" && ownerUid !== uid;
}

/**
 * True for a late request of an owner before the record's. An owner that this process has not seen
 * is told by the time of the request: propeller repeats requests, so that those of a new owner are
 * newer sooner or later, whatever the clocks of two propellers show.
 */
export function isOfEarlierOwner(record: AttemptRecord, request: TaskRequest): boolean {
  if (!isOfOtherOwner(record, request)) return false;
  const at = requestedAtMs(request);
  return record.earlierOwners.includes(request.owner?.uid ?? "") || (at !== undefined && at < record.requestedAtMs);
}

/**
 * Builds the request that ends what an earlier attempt has left; undefined when it left nothing.
 *
 * @param successor - a request of the attempt that has its name now
 */
export function endOfPredecessor(record: AttemptRecord, successor: TaskRequest): TaskRequest | undefined {
  if (record.unfinishedEnd !== undefined) return record.unfinishedEnd;
  if (record.hasEnded || successor.owner === undefined) return undefined;
  return {
    ...successor,
    desired: DesiredState.ABORT,
    owner: { ...successor.owner, uid: record.ownerUid },
    deleteResources: true,
    pluginState: new Uint8Array(),
    knownPhase: TaskExecution_Phase.UNDEFINED,
    knownPhaseVersion: 0,
    abortReason: "another execution has the name of the attempt's execution",
  };
}
