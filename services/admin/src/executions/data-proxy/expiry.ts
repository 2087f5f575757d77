import type { Duration } from "@bufbuild/protobuf/wkt";
import { invalidArgument } from "../../platform/index.js";

/**
 * Lifetime of a signed URL, seconds; default: the limit.
 *
 * @throws RpcError INVALID_ARGUMENT when it is not positive or exceeds the limit.
 */
export function expirySeconds(requested: Duration | undefined, limitSeconds: number): number {
  if (requested === undefined) return limitSeconds;
  const seconds = Number(requested.seconds) + requested.nanos / 1e9;
  if (seconds <= 0) throw invalidArgument(`expires_in is invalid: ${seconds}s must be greater than 0`);
  if (seconds > limitSeconds)
    throw invalidArgument(`expires_in is invalid: ${seconds}s cannot exceed max allowed expiration ${limitSeconds}s`);
  return Math.ceil(seconds);
}
