import type { IncomingMessage } from "node:http";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import type { Emit } from "../dispatch.js";
import { drained } from "../drained.js";
import { toRpcError } from "../rpc-error.js";
import { answerText, onceForAll } from "./answer-text.js";
import { endSoon } from "./end-soon.js";
import type { StreamOptions } from "./json-lines.js";

export const EVENT_STREAM = "text/event-stream";
/** The field by which a stream goes on where it stopped: of its messages, and of the request. */
const CURSOR = "cursor";
/** Something is sent at least so often, for proxies close what is silent and a dead client is noticed by it. */
const SILENCE_MS = 15_000;
/** A stream that has nothing to say yet is shown to be open after this time. */
const OPEN_MS = 500;

/** Whether a client asks for server-sent events, as EventSource does. */
export function wantsEvents(accept: readonly string[]): boolean {
  return accept.some((line) => line.split(",").some((part) => part.split(";")[0]?.trim().toLowerCase() === EVENT_STREAM));
}

/** EventSource tells by Last-Event-ID where it stopped: for methods whose requests have a text field `cursor` this becomes that. */
export function withLastEventId(input: DescMessage, message: Message, request: IncomingMessage): Message {
  const id = request.headersDistinct["last-event-id"]?.[0];
  return id !== undefined && id !== "" && hasCursor(input) ? ({ ...message, [CURSOR]: id } as Message) : message;
}

/**
 * Server-sent events (HTML standard, 9.2): a message of the stream is an event without a name, its `cursor` the event's
 * id. `end` tells that the stream is complete and `failed` (google.rpc.Status) that it is not: EventSource connects
 * again by itself unless it is closed. A stream that is complete and had nothing to say answers 204, at which it stops.
 */
export async function sendEvents(options: StreamOptions, run: (emit: Emit) => Promise<void>): Promise<void> {
  const { response, codec, output, stallMs } = options;
  const begin = (): void => {
    if (response.headersSent || response.destroyed) return;
    response.writeHead(200, { "Content-Type": EVENT_STREAM, "Cache-Control": "no-cache", "X-Accel-Buffering": "no" });
    response.write("retry: 1000\n\n");
  };
  let spoken = false;
  const opening = setTimeout(begin, OPEN_MS);
  const beat = setInterval(() => {
    if (!spoken && response.headersSent && !response.writableNeedDrain) response.write(":\n\n");
    spoken = false;
  }, SILENCE_MS);
  const write = (text: string): boolean => {
    begin();
    spoken = true;
    return response.destroyed || response.write(text);
  };
  try {
    await run(async (message, signal) => {
      if (!write(frameOf(codec, output, message))) await drained(response, { signal, stallMs });
    });
    if (response.headersSent) write("event: end\ndata: {}\n\n");
    else response.writeHead(204);
  } catch (thrown) {
    if (!response.headersSent) throw thrown;
    write(`event: failed\ndata: ${codec.writeError(toRpcError(thrown)).toString()}\n\n`);
  } finally {
    clearTimeout(opening);
    clearInterval(beat);
  }
  endSoon(response, stallMs);
}

const frameOf = onceForAll((codec, output, message) => {
  const data = answerText(codec, output, message);
  if (!hasCursor(output)) return `data: ${data}\n\n`;
  const { [CURSOR]: cursor = "" } = JSON.parse(data) as { [CURSOR]?: string };
  return `id: ${cursor}\ndata: ${data}\n\n`;
});

function hasCursor(message: DescMessage): boolean {
  return message.fields.some((field) => field.name === CURSOR && field.fieldKind === "scalar");
}
