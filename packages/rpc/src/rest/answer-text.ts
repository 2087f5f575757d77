import type { DescMessage, Message } from "@bufbuild/protobuf";
import { decoded, Encoded } from "../encoded.js";
import type { Codec } from "./codec.js";

/** What is written of a message of a stream. */
export type Written = (codec: Codec, output: DescMessage, message: Message | Encoded) => string;

/** A message that many streams are given encoded is written once for all of them. */
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

/** A message as JSON. */
export const answerText: Written = (codec, output, message) => codec.write(output, decoded(message)).toString();
