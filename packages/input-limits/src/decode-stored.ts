import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { type Limits, PROTOBUF_MAX_DEPTH, violationText } from "./limits.js";
import { scanMessage } from "./scan-message.js";

/** Largest blob that is read to be decoded, bytes. */
export const MAX_STORED_BYTES = 256 * 1024 * 1024;

/** Limits of what stands in the blob store, where code of users writes: those of admin's largest requests. */
const STORED: Limits = { bytes: MAX_STORED_BYTES, elements: 4_000_000, depth: PROTOBUF_MAX_DEPTH };
/** Fewer bytes hold fewer elements than are worth counting. */
const SMALL_BYTES = 64 * 1024;

/** A stored message that is larger, or has more elements or levels, than are decoded, or is not well-formed. */
export class StoredMessageRefused extends Error {
  override readonly name = "StoredMessageRefused";
}

/**
 * Decodes a message that was read from a blob, after its elements and levels are counted.
 *
 * @throws StoredMessageRefused beyond the limits, and for large bytes that are not well-formed; what the library throws for small ones.
 */
export function decodeStored<Schema extends DescMessage>(
  schema: Schema,
  bytes: Uint8Array,
  limits: Partial<Limits> = {},
): MessageShape<Schema> {
  // Bytes that are not well-formed are refused too: a decoder that reads them in another way finds more in them than was counted.
  const violation = bytes.length > SMALL_BYTES ? scanMessage(schema, bytes, { ...STORED, ...limits }) : undefined;
  if (violation !== undefined) throw new StoredMessageRefused(`${schema.typeName} ${violationText(violation)}`);
  return fromBinary(schema, bytes);
}
