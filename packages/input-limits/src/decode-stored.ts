import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { type Limits, PROTOBUF_MAX_DEPTH, violationText } from "./limits.js";
import { scanMessage } from "./scan-message.js";

/** Largest blob that is read to be decoded, bytes. */
export const MAX_STORED_BYTES = 256 * 1024 * 1024;

/** Limits of what stands in the blob store, where code of users writes: those of admin's largest requests. */
const STORED: Limits = { bytes: MAX_STORED_BYTES, elements: 4_000_000, depth: PROTOBUF_MAX_DEPTH };
/** Fewer bytes hold fewer elements than are worth counting. */
const SMALL_BYTES = 64 * 1024;

/** A stored message with more elements or levels than are decoded, or one that is not well-formed. */
export class StoredMessageRefused extends Error {
  override readonly name = "StoredMessageRefused";
}

/** Blob store, as far as stored messages are read from it. */
export interface StoredBytes {
  get(uri: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
}

export interface StoredMessage<Schema extends DescMessage> {
  readonly uri: string;
  readonly schema: Schema;
  /** Those that differ from what stored messages have in general. */
  readonly limits?: Partial<Limits>;
}

/**
 * Reads and decodes a message, after its elements and levels are counted.
 *
 * @returns undefined where there is no such blob.
 * @throws StoredMessageRefused beyond the limits on elements and levels, and for bytes that are no such message; what `get` throws.
 */
export async function readStored<Schema extends DescMessage>(
  blobs: StoredBytes,
  { uri, schema, limits = {} }: StoredMessage<Schema>,
): Promise<MessageShape<Schema> | undefined> {
  const bytes = await blobs.get(uri, { maxBytes: limits.bytes ?? MAX_STORED_BYTES });
  return bytes && decodeStored(schema, bytes, limits);
}

/**
 * Decodes a message that was read from a blob, after its elements and levels are counted.
 *
 * @throws StoredMessageRefused beyond the limits, and for bytes that are no such message.
 */
export function decodeStored<Schema extends DescMessage>(
  schema: Schema,
  bytes: Uint8Array,
  limits: Partial<Limits> = {},
): MessageShape<Schema> {
  checkStored(schema, bytes, limits);
  try {
    return fromBinary(schema, bytes);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw new StoredMessageRefused(`${schema.typeName} cannot be decoded: ${problem}`, { cause });
  }
}

/**
 * Counts the elements and levels of a message that is decoded in parts. Bytes that are not well-formed are refused too: a decoder that
 * reads them in another way finds more in them than was counted.
 *
 * @throws StoredMessageRefused
 */
export function checkStored(schema: DescMessage, bytes: Uint8Array, limits: Partial<Limits> = {}): void {
  const violation = bytes.length > SMALL_BYTES ? scanMessage(schema, bytes, { ...STORED, ...limits }) : undefined;
  if (violation !== undefined) throw new StoredMessageRefused(`${schema.typeName} ${violationText(violation)}`);
}
