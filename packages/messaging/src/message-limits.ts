import type { DescMessage } from "@bufbuild/protobuf";
import { type Limits, PROTOBUF_MAX_DEPTH, scanMessage, violationText } from "@flyte-ts/input-limits";
import { MAX_DECOMPRESSED_BYTES } from "./limits.js";

const MESSAGE_LIMITS: Limits = { bytes: MAX_DECOMPRESSED_BYTES, elements: 1_000_000, depth: PROTOBUF_MAX_DEPTH };

/** Smaller messages cannot hold enough elements to be worth counting. */
const SCAN_THRESHOLD_BYTES = 64 * 1024;

/** A message exceeds the limits of decoding. */
export class MessageLimitError extends Error {
  override readonly name = "MessageLimitError";
}

/**
 * Checks the message's limits before it is decoded, and returns it. @throws MessageLimitError,
 * naming the limit.
 */
export function checkMessageLimits(schema: DescMessage, data: Uint8Array): Uint8Array {
  if (data.length <= SCAN_THRESHOLD_BYTES) return data;
  const violation = scanMessage(schema, data, MESSAGE_LIMITS);
  if (violation !== undefined) throw new MessageLimitError(`${schema.typeName}: ${violationText(violation)}`);
  return data;
}
