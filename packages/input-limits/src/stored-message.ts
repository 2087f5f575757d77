import { type DescMessage, fromBinary, type MessageShape } from "@bufbuild/protobuf";
import { type Limits, PROTOBUF_MAX_DEPTH, violationText } from "./limits.js";
import { scanMessage } from "./scan-message.js";

/** Largest blob that is read for decoding, bytes. */
export const MAX_STORED_BYTES = 256 * 1024 * 1024;

/**
 * Limits of messages in the blob store, where users' code writes: those of admin's largest
 * requests.
 */
const STORED_LIMITS: Limits = { bytes: MAX_STORED_BYTES, elements: 4_000_000, depth: PROTOBUF_MAX_DEPTH };
/** Smaller messages cannot hold enough elements to be worth counting. */
const SCAN_THRESHOLD_BYTES = 64 * 1024;

/** A stored message exceeds the limits of elements or levels, or is malformed. */
export class StoredMessageError extends Error {
  override readonly name = "StoredMessageError";
}

/** Blob store, as far as stored messages are read from it. */
export interface BlobReader {
  get(uri: string, options: { readonly maxBytes: number }): Promise<Uint8Array | undefined>;
}

export interface StoredMessage<Schema extends DescMessage> {
  readonly uri: string;
  readonly schema: Schema;
  /** Limits that differ from those of stored messages in general. */
  readonly limits?: Partial<Limits>;
}

/**
 * Reads and decodes a message, after its elements and levels are counted.
 *
 * @returns undefined when the blob does not exist.
 * @throws StoredMessageError beyond the limits on elements and levels, and for malformed bytes; the
 *   errors of `get`.
 */
export async function readStored<Schema extends DescMessage>(
  blobs: BlobReader,
  { uri, schema, limits = {} }: StoredMessage<Schema>,
): Promise<MessageShape<Schema> | undefined> {
  const bytes = await blobs.get(uri, { maxBytes: limits.bytes ?? MAX_STORED_BYTES });
  return bytes && decodeStored(schema, bytes, limits);
}

/**
 * Decodes a message from a blob, after its elements and levels are counted.
 *
 * @throws StoredMessageError beyond the limits, and for malformed bytes.
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new StoredMessageError(`${schema.typeName} cannot be decoded: ${reason}`, { cause });
  }
}

/**
 * Counts the elements and levels of a message that is decoded in parts. Malformed bytes are
 * rejected too: a decoder that reads them differently would find more in them than was counted.
 *
 * @throws StoredMessageError
 */
export function checkStored(schema: DescMessage, bytes: Uint8Array, limits: Partial<Limits> = {}): void {
  const violation = bytes.length > SCAN_THRESHOLD_BYTES ? scanMessage(schema, bytes, { ...STORED_LIMITS, ...limits }) : undefined;
  if (violation !== undefined) throw new StoredMessageError(`${schema.typeName} ${violationText(violation)}`);
}
