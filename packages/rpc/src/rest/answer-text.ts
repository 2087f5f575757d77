import type { DescMessage, Message } from "@bufbuild/protobuf";
import { decoded, Encoded } from "../encoded.js";
import type { Codec } from "./codec.js";

const written = new WeakMap<Encoded, Map<Codec, string>>();

/** A message of a stream as JSON. One that many streams are given encoded is written once for all of them. */
export function answerText(codec: Codec, output: DescMessage, message: Message | Encoded): string {
  if (!(message instanceof Encoded)) return codec.write(output, message).toString();
  let byCodec = written.get(message);
  if (byCodec === undefined) written.set(message, (byCodec = new Map()));
  let text = byCodec.get(codec);
  if (text === undefined) byCodec.set(codec, (text = codec.write(output, decoded(message)).toString()));
  return text;
}
