import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";

export interface EarlyResponse {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Empty for answers to HEAD. */
  readonly body: string | Uint8Array;
}

/**
 * Limits of the rest of a refused request that is read and discarded, in bytes and milliseconds.
 */
const DROPPED_BYTES = 100 * 1024 * 1024;
const DROPPED_MS = 2_000;

/**
 * Sends an answer whether or not the request has arrived completely. If it has not, the connection
 * closes after a delay: closing it while the client still sends would reset it, and the client
 * might never see the answer.
 */
export function endEarly(request: IncomingMessage, response: ServerResponse, { status, headers, body }: EarlyResponse): void {
  if (request.complete) {
    response.writeHead(status, headers).end(body);
    return;
  }
  response.writeHead(status, { ...headers, Connection: "close", "Content-Length": Buffer.byteLength(body) });
  response.write(body);
  let left = DROPPED_BYTES;
  const end = (): void => {
    clearTimeout(timer);
    request.off("data", drop).off("end", end).off("close", end);
    response.end();
  };
  const drop = (chunk: Buffer): void => {
    left -= chunk.length;
    if (left < 0) end();
  };
  const timer = setTimeout(end, DROPPED_MS);
  request.on("data", drop).on("end", end).on("close", end).resume();
}
