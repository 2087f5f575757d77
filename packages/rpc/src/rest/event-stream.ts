import type { IncomingMessage } from "node:http";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Emit } from "../dispatch.js";
import { waitForDrain } from "../wait-for-drain.js";
import { toRpcError } from "../rpc-error.js";
import { responseText, memoizeEncoded } from "./json/response-text.js";
import { endWithTimeout } from "./end-with-timeout.js";
import type { StreamOptions } from "./json/json-lines.js";

export const EVENT_STREAM = "text/event-stream";
/** Field of messages and of the request with the position from which a stream resumes. */
const CURSOR = "cursor";
/**
 * Interval of keepalives, ms: proxies close silent connections, and a write detects a dead client.
 */
const HEARTBEAT_MS = 15_000;
/** Time after which the headers of a silent stream are sent. */
const OPEN_DELAY_MS = 500;

/** True when a client asks for server-sent events, as EventSource does. */
export function wantsEvents(accept: readonly string[]): boolean {
  return accept.some((line) => line.split(",").some((part) => part.split(";")[0]?.trim().toLowerCase() === EVENT_STREAM));
}

/** Copies EventSource's Last-Event-ID to the request's text field `cursor`, if it has one. */
export function withLastEventId(input: DescMessage, message: Message, request: IncomingMessage): Message {
  const id = request.headersDistinct["last-event-id"]?.[0];
  return id !== undefined && id !== "" && hasCursor(input) ? ({ ...message, [CURSOR]: id } as Message) : message;
}

/**
 * Sends server-sent events (HTML standard, 9.2): each message is an unnamed event, with its
 * `cursor` as id. `end` says that the stream is complete and `failed` (google.rpc.Status) that it
 * is not: EventSource reconnects by itself unless it is closed. A complete stream without messages
 * answers 204, which stops it.
 */
export async function sendEvents(options: StreamOptions, run: (emit: Emit) => Promise<void>): Promise<void> {
  const { response, codec, output, stallTimeoutMs } = options;
  const begin = (): void => {
    if (response.headersSent || response.destroyed) return;
    response.writeHead(200, { "Content-Type": EVENT_STREAM, "Cache-Control": "no-cache", "X-Accel-Buffering": "no" });
    response.write("retry: 1000\n\n");
  };
  let written = false;
  const opening = setTimeout(begin, OPEN_DELAY_MS);
  const heartbeat = setInterval(() => {
    if (!written && response.headersSent && !response.writableNeedDrain) response.write(":\n\n");
    written = false;
  }, HEARTBEAT_MS);
  const write = (text: string): boolean => {
    begin();
    written = true;
    return response.destroyed || response.write(text);
  };
  try {
    await run(async (message, signal) => {
      if (!write(frameOf(codec, output, message))) await waitForDrain(response, { signal, stallTimeoutMs });
    });
    if (response.headersSent) write("event: end\ndata: {}\n\n");
    else response.writeHead(204);
  } catch (thrown) {
    if (!response.headersSent) throw thrown;
    write(`event: failed\ndata: ${codec.writeError(toRpcError(thrown)).toString()}\n\n`);
  } finally {
    clearTimeout(opening);
    clearInterval(heartbeat);
  }
  endWithTimeout(response, stallTimeoutMs);
}

const frameOf = memoizeEncoded((codec, output, message) => {
  const data = responseText(codec, output, message);
  if (!hasCursor(output)) return `data: ${data}\n\n`;
  const { [CURSOR]: cursor = "" } = JSON.parse(data) as { [CURSOR]?: string };
  return `id: ${cursor}\ndata: ${data}\n\n`;
});

function hasCursor(message: DescMessage): boolean {
  return message.fields.some((field) => field.name === CURSOR && field.fieldKind === "scalar");
}
