import { fromBinary, type DescMessage, type Message } from "@bufbuild/protobuf";

/**
 * An answer as its bytes, for handlers that have most of it encoded: gRPC sends them as they are. They are not
 * looked at, so they must be a message of the schema.
 */
export class Encoded<Desc extends DescMessage = DescMessage> {
  constructor(
    readonly schema: Desc,
    readonly bytes: Uint8Array,
  ) {}
}

/** What a handler answered, as a message. */
export function decoded(answer: Message | Encoded): Message {
  return answer instanceof Encoded ? fromBinary(answer.schema, answer.bytes) : answer;
}
