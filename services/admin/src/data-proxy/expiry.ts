import type { Duration } from "@bufbuild/protobuf/wkt";
import { invalidArgument } from "../invalid.js";

/**
 * How long a signed address shall live, seconds; by default as long as it may.
 *
 * @throws RpcError INVALID_ARGUMENT when it is not positive or longer than the limit.
 */
export function expirySeconds(asked: Duration | undefined, limitSeconds: number): number {
  if (asked === undefined) return limitSeconds;
  const seconds = Number(asked.seconds) + asked.nanos / 1e9;
  if (seconds <= 0) throw invalidArgument(`expires_in is invalid: ${seconds}s must be greater than 0`);
  if (seconds > limitSeconds)
    throw invalidArgument(`expires_in is invalid: ${seconds}s cannot exceed max allowed expiration ${limitSeconds}s`);
  return Math.ceil(seconds);
}
