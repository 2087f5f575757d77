import type { DescMessage, Message } from "@bufbuild/protobuf";
import { decoded, Encoded } from "../encoded.js";
import type { Codec } from "./codec.js";

/** Formats a message of a stream. */
export type Written = (codec: Codec, output: DescMessage, message: Message | Encoded) => string;

/** Caches the text of an encoded message that many streams send. */
export function onceForAll(write: Written): Written {
  const known = new WeakMap<Encoded, Map<Codec, string>>();
  return (codec, output, message) => {
    if (!(message instanceof Encoded)) return write(codec, output, message);
    let byCodec = known.get(message);
    if (byCodec === undefined) known.set(message, (byCodec = new Map()));
    let text = byCodec.get(codec);
    if (text === undefined) byCodec.set(codec, (text = write(codec, output, message)));
    return text;
  };
}

/** Formats a message as JSON. */
export const answerText: Written = (codec, output, message) => codec.write(output, decoded(message)).toString();
