import type { DescMessage, Message } from "@bufbuild/protobuf";
import { decodeIfEncoded, EncodedMessage } from "../../encoded-message.js";
import type { Codec } from "./codec.js";

/** Formats a message of a stream. */
export type Serialize = (codec: Codec, output: DescMessage, message: Message | EncodedMessage) => string;

/** Caches the text of an encoded message that many streams send. */
export function memoizeEncoded(write: Serialize): Serialize {
  const known = new WeakMap<EncodedMessage, Map<Codec, string>>();
  return (codec, output, message) => {
    if (!(message instanceof EncodedMessage)) return write(codec, output, message);
    let byCodec = known.get(message);
    if (byCodec === undefined) known.set(message, (byCodec = new Map()));
    let text = byCodec.get(codec);
    if (text === undefined) byCodec.set(codec, (text = write(codec, output, message)));
    return text;
  };
}

/** Formats a message as JSON. */
export const responseText: Serialize = (codec, output, message) => codec.write(output, decodeIfEncoded(message)).toString();
