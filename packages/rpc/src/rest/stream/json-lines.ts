import type { ServerResponse } from "node:http";
import type { DescMessage } from "@bufbuild/protobuf";
import { toRpcError } from "../../rpc-error.js";
import type { Emit } from "../../dispatch.js";
import type { Encoding } from "../compression/accepted-encoding.js";
import type { Codec } from "../json/codec.js";
import { responseText, memoizeEncoded } from "../json/response-text.js";
import { ResponseStream } from "./response-stream.js";

export interface StreamOptions {
  readonly response: ServerResponse;
  readonly codec: Codec;
  readonly output: DescMessage;
  /** Coding of the body; undefined: none. */
  readonly encoding?: Encoding | undefined;
  /** Time for which a client may read nothing. */
  readonly stallTimeoutMs: number;
}

const textOf = memoizeEncoded(responseText);

/**
 * Sends one JSON object per line: `{"result": …}`, and `{"error": …}` when the stream fails after
 * its start.
 */
export async function sendJsonLines({ codec, output, ...options }: StreamOptions, run: (emit: Emit) => Promise<void>): Promise<void> {
  const stream = new ResponseStream({ ...options, headers: { "Content-Type": codec.contentType } });
  const line = (key: string, text: string): string => `{"${key}":${text}}\n`;
  try {
    await run((message, signal) => stream.send(line("result", textOf(codec, output, message)), signal));
    stream.end();
  } catch (thrown) {
    if (!stream.hasBegun) throw thrown;
    stream.end(line("error", codec.writeError(toRpcError(thrown)).toString()));
  }
}
