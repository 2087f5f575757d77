import type { IncomingMessage } from "node:http";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Emit } from "../../dispatch.js";
import { toRpcError } from "../../rpc-error.js";
import { responseText, memoizeEncoded } from "../json/response-text.js";
import type { StreamOptions } from "./json-lines.js";
import { EVENT_STREAM } from "./media-types.js";
import { ResponseStream } from "./response-stream.js";

/** Field of messages and of the request with the position from which a stream resumes. */
const CURSOR = "cursor";

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
export async function sendEvents({ codec, output, ...options }: StreamOptions, run: (emit: Emit) => Promise<void>): Promise<void> {
  const headers = { "Content-Type": EVENT_STREAM, "Cache-Control": "no-cache", "X-Accel-Buffering": "no" };
  const stream = new ResponseStream({ ...options, headers, opening: "retry: 1000\n\n", keepalive: ":\n\n" });
  try {
    await run((message, signal) => stream.send(eventOf(codec, output, message), signal));
    if (stream.hasBegun) stream.end("event: end\ndata: {}\n\n");
    else options.response.writeHead(204).end();
  } catch (thrown) {
    if (!stream.hasBegun) throw thrown;
    stream.end(`event: failed\ndata: ${codec.writeError(toRpcError(thrown)).toString()}\n\n`);
  } finally {
    stream.close();
  }
}

const eventOf = memoizeEncoded((codec, output, message) => {
  const data = responseText(codec, output, message);
  if (!hasCursor(output)) return `data: ${data}\n\n`;
  const { [CURSOR]: cursor = "" } = JSON.parse(data) as { [CURSOR]?: string };
  return `id: ${cursor}\ndata: ${data}\n\n`;
});

function hasCursor(message: DescMessage): boolean {
  return message.fields.some((field) => field.name === CURSOR && field.fieldKind === "scalar");
}
