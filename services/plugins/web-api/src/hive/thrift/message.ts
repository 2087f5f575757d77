import { structAt, textAt, ThriftFormatError, ThriftReader, type ThriftStruct } from "./decode.js";
import { type Encoded, int32, struct, text } from "./encode.js";

const VERSION_1 = 0x8001_0000;
const VERSION_MASK = 0xffff_0000;
const CALL = 1;
const EXCEPTION = 3;

/** The server could not handle a call: it does not know it or failed outside of its service. */
export class ThriftApplicationError extends Error {
  override readonly name = "ThriftApplicationError";
}

/** Encodes a call with one argument. */
export function encodeCall(name: string, argument: Encoded): Uint8Array {
  const sequence = 0;
  return Buffer.concat([int32(VERSION_1 | CALL | 0), text(name).bytes, int32(sequence), struct({ 1: argument }).bytes]);
}

/**
 * Decodes the result of a call.
 * @throws ThriftFormatError for malformed bytes; ThriftApplicationError for an exception.
 */
export function decodeReply(bytes: Buffer): ThriftStruct {
  const reader = new ThriftReader(bytes);
  const header = reader.int32();
  if ((header & VERSION_MASK) >>> 0 !== VERSION_1) throw new ThriftFormatError("the answer is not a message of Thrift's binary protocol");
  const name = reader.binary().toString();
  reader.int32();
  const body = reader.struct();
  if ((header & 0xff) === EXCEPTION) throw new ThriftApplicationError(textAt(body, 1) ?? `${name} failed`);
  const result = structAt(body, 0);
  if (result === undefined) throw new ThriftFormatError(`the answer of ${name} has no result`);
  return result;
}
