import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/** Encodes the end time as plugin state: ms since the epoch, 64 bits, big-endian. */
export function encodeWakeTime(wakeMs: number): Uint8Array {
  const state = new Uint8Array(8);
  new DataView(state.buffer).setBigInt64(0, BigInt(Math.round(wakeMs)));
  return state;
}

/**
 * End of a sleep, ms since the epoch: the one stored by an earlier process, else counted from
 * propeller's request, so that time in the queue and restarts do not lengthen it.
 */
export function wakeTime(request: TaskRequest, durationMs: number, now: Date): number {
  const { pluginState, requestedAt } = request;
  if (pluginState.length === 8) {
    return Number(new DataView(pluginState.buffer, pluginState.byteOffset, 8).getBigInt64(0));
  }
  const requestedMs = requestedAt === undefined ? now.getTime() : timestampMs(requestedAt);
  return Math.min(requestedMs, now.getTime()) + durationMs;
}
