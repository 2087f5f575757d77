import { fromBinary, type DescMessage, type Message } from "@bufbuild/protobuf";

/**
 * An encoded answer, for handlers that have most of it encoded: gRPC sends the bytes unchecked, so
 * they must be a message of the schema.
 */
export class EncodedMessage<Desc extends DescMessage = DescMessage> {
  constructor(
    readonly schema: Desc,
    readonly bytes: Uint8Array,
  ) {}
}

/** Returns a handler's answer as a message. */
export function decodeIfEncoded(response: Message | EncodedMessage): Message {
  return response instanceof EncodedMessage ? fromBinary(response.schema, response.bytes) : response;
}
