import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { IncomingMessage } from "node:http";
import type { Emit } from "../../dispatch.js";
import { sendEvents, withLastEventId } from "./event-stream.js";
import { sendFrames } from "./frames.js";
import { sendJsonLines, type StreamOptions } from "./json-lines.js";
import { accepts, EVENT_STREAM, FRAMES } from "./media-types.js";

/** Runs the call with its request as the form of the stream changes it. */
type RunStream = (requestOf: (message: Message) => Message, emit: Emit) => Promise<void>;

export interface SendStreamOptions extends Omit<StreamOptions, "output"> {
  readonly request: IncomingMessage;
  readonly method: DescMethod;
}

/** Sends the answers of a call in the form that its client accepts: by default, lines of JSON. */
export async function sendStream({ request, method, ...given }: SendStreamOptions, run: RunStream): Promise<void> {
  const accept = request.headersDistinct.accept ?? [];
  const options = { ...given, output: method.output };
  const unchanged = (message: Message): Message => message;
  if (accepts(accept, FRAMES)) await sendFrames(options, (emit) => run(unchanged, emit));
  else if (accepts(accept, EVENT_STREAM))
    await sendEvents(options, (emit) => run((message) => withLastEventId(method.input, message, request), emit));
  else await sendJsonLines(options, (emit) => run(unchanged, emit));
}
