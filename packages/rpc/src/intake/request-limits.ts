import type { DescMethod } from "@bufbuild/protobuf";
import { type Limits, PROTOBUF_MAX_DEPTH } from "@flyte-ts/input-limits";

/** Returns the limits of one request message of a method. */
export type RequestLimits = (method: DescMethod) => Limits;

export const DEFAULT_MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const DEFAULT_MAX_ELEMENTS = 1_000_000;

/**
 * Limits of requests that only name an object, and for callers without the role that a method
 * needs.
 */
export const SMALL_REQUEST: Limits = { bytes: 64 * 1024, elements: 10_000, depth: PROTOBUF_MAX_DEPTH };

/**
 * Maximum size of a compressed request, compressed and decompressed, bytes: a request of a few KiB
 * must not cost as much as one of 64 MiB.
 */
export const MAX_UNPACKED_BYTES = 16 * 1024 * 1024;

/** Limits of a JSON body: parsing takes ten times as long as decoding the same protobuf message. */
export const JSON_BODY: Pick<Limits, "bytes" | "elements"> = { bytes: 16 * 1024 * 1024, elements: 200_000 };

/** Returns the same limits for all methods. */
export function uniformLimits(bytes: number, elements = DEFAULT_MAX_ELEMENTS): RequestLimits {
  const limits = { bytes, elements, depth: PROTOBUF_MAX_DEPTH };
  return () => limits;
}
