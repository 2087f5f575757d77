import { toBinary, type DescMessage, type Message } from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { StatusSchema } from "@flyte-ts/idl/google/rpc/status_pb";
import type { Emit } from "../../dispatch.js";
import { EncodedMessage } from "../../encoded-message.js";
import { toRpcError } from "../../rpc-error.js";
import type { StreamOptions } from "./json-lines.js";
import { FRAMES } from "./media-types.js";
import { ResponseStream } from "./response-stream.js";

/** Numbers of the fields of StreamFrames, one for each kind of frame. */
const MESSAGE = 1;
const END = 2;
const KEEPALIVE = 3;
const EMPTY = new Uint8Array(0);

/**
 * Sends the messages of a stream as fields of one `flytets.admin.v1.StreamFrames`: each is a byte
 * for the kind of frame, the length as a varint, and the encoded message. The last frame has the
 * status of the stream, so that a client detects a body that was cut off.
 */
export async function sendFrames({ output, ...options }: Omit<StreamOptions, "codec">, run: (emit: Emit) => Promise<void>): Promise<void> {
  const headers = { "Content-Type": FRAMES, "Cache-Control": "no-cache", "X-Accel-Buffering": "no" };
  const stream = new ResponseStream({ ...options, headers, keepalive: frame(KEEPALIVE, EMPTY) });
  try {
    await run((message, signal) => stream.send(frame(MESSAGE, encodedOf(output, message)), signal));
    stream.end(frame(END, EMPTY));
  } catch (thrown) {
    if (!stream.hasBegun) throw thrown;
    stream.end(frame(END, toBinary(StatusSchema, toRpcError(thrown).toStatus())));
  } finally {
    stream.close();
  }
}

function encodedOf(output: DescMessage, message: Message | EncodedMessage): Uint8Array {
  return message instanceof EncodedMessage ? message.bytes : toBinary(output, message);
}

function frame(field: number, bytes: Uint8Array): Uint8Array {
  return new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(bytes).finish();
}
