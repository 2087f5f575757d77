import { fromBinary, type DescMessage, type Message } from "@bufbuild/protobuf";

/**
 * An encoded answer, for handlers that have most of it encoded: gRPC sends the bytes unchecked, so they must be a
 * message of the schema.
 */
export class Encoded<Desc extends DescMessage = DescMessage> {
  constructor(
    readonly schema: Desc,
    readonly bytes: Uint8Array,
  ) {}
}

/** Returns a handler's answer as a message. */
export function decoded(answer: Message | Encoded): Message {
  return answer instanceof Encoded ? fromBinary(answer.schema, answer.bytes) : answer;
}
