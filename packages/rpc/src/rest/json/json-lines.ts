import type { ServerResponse } from "node:http";
import type { DescMessage } from "@bufbuild/protobuf";
import { waitForDrain } from "../../wait-for-drain.js";
import { toRpcError } from "../../rpc-error.js";
import type { Emit } from "../../dispatch.js";
import type { Codec } from "./codec.js";
import { responseText, memoizeEncoded } from "./response-text.js";
import { endWithTimeout } from "../end-with-timeout.js";

export interface StreamOptions {
  readonly response: ServerResponse;
  readonly codec: Codec;
  readonly output: DescMessage;
  /** Time for which a client may read nothing. */
  readonly stallTimeoutMs: number;
}

const textOf = memoizeEncoded(responseText);

/**
 * Sends one JSON object per line: `{"result": …}`, and `{"error": …}` when the stream fails after
 * its start.
 */
export async function sendJsonLines(
  { response, codec, output, stallTimeoutMs }: StreamOptions,
  run: (emit: Emit) => Promise<void>,
): Promise<void> {
  const begin = (): void => {
    if (!response.headersSent) response.writeHead(200, { "Content-Type": codec.contentType });
  };
  const line = (key: string, text: string): boolean => {
    begin();
    return response.destroyed || response.write(`{"${key}":${text}}\n`);
  };
  try {
    await run(async (message, signal) => {
      if (!line("result", textOf(codec, output, message))) await waitForDrain(response, { signal, stallTimeoutMs });
    });
  } catch (thrown) {
    if (!response.headersSent) throw thrown;
    line("error", codec.writeError(toRpcError(thrown)).toString());
  }
  begin();
  endWithTimeout(response, stallTimeoutMs);
}
