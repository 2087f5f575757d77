import type { DescMessage } from "@bufbuild/protobuf";
import { type Limits, PROTOBUF_MAX_DEPTH, scanMessage, violationText } from "@flyte-ts/input-limits";
import { MOST_UNFOLDED_BYTES } from "./limits.js";

const LIMITS: Limits = { bytes: MOST_UNFOLDED_BYTES, elements: 1_000_000, depth: PROTOBUF_MAX_DEPTH };

/** A message of fewer bytes holds fewer elements than are worth counting. */
const SMALL_BYTES = 64 * 1024;

/** A message that exceeds the limits of what is decoded. */
export class MessageRefused extends Error {
  override readonly name = "MessageRefused";
}

/** Checks a message before it is decoded, and gives it back. @throws MessageRefused that names the limit. */
export function withinLimits(schema: DescMessage, data: Uint8Array): Uint8Array {
  if (data.length <= SMALL_BYTES) return data;
  const violation = scanMessage(schema, data, LIMITS);
  if (violation !== undefined) throw new MessageRefused(`${schema.typeName}: ${violationText(violation)}`);
  return data;
}
