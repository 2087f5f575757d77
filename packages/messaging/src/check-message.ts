import type { DescMessage } from "@bufbuild/protobuf";
import { type Limits, PROTOBUF_MAX_DEPTH, scanMessage, violationText } from "@flyte-ts/input-limits";
import { MOST_UNFOLDED_BYTES } from "./limits.js";

const LIMITS: Limits = { bytes: MOST_UNFOLDED_BYTES, elements: 1_000_000, depth: PROTOBUF_MAX_DEPTH };

/** Smaller messages cannot hold enough elements to be worth counting. */
const SMALL_BYTES = 64 * 1024;

/** A message exceeds the limits of decoding. */
export class MessageRefused extends Error {
  override readonly name = "MessageRefused";
}

/** Checks the message's limits before it is decoded, and returns it. @throws MessageRefused, naming the limit. */
export function withinLimits(schema: DescMessage, data: Uint8Array): Uint8Array {
  if (data.length <= SMALL_BYTES) return data;
  const violation = scanMessage(schema, data, LIMITS);
  if (violation !== undefined) throw new MessageRefused(`${schema.typeName}: ${violationText(violation)}`);
  return data;
}
