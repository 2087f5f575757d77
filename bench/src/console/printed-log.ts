import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { create, toBinary } from "@bufbuild/protobuf";
import { FollowLogResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { StreamFramesSchema } from "@flyte-ts/idl/flytets/admin/v1/stream_frames_pb";

const FRAMES = "application/x-flyte-ts-frames";
/** Last frame of a stream that is complete: an empty status. */
const END = Uint8Array.of(0x12, 0);
/** Lines of a message, as admin sends an archived log. */
const LINES_PER_MESSAGE = 500;
/** Lines that the pod goes on to print: so many at this interval, ms. */
const PRINTED = 200;
const PRINT_MS = 100;
const FIRST_MS = 1_700_000_000_000;
/** Every so many lines contain {@link RARE}. */
const RARE_EVERY = 9_973;

/** Text that a search looks for. */
export const RARE = "value is missing";

/** Number of lines that contain {@link RARE} among the first ones. */
export const rareLines = (lines: number): number => Math.ceil(lines / RARE_EVERY);

const lineAt = (at: number): { readonly time: string; readonly text: string } => ({
  time: new Date(FIRST_MS + at * 7).toISOString(),
  text: `INFO  fit: step ${at} of region ${at % 97}, loss ${(1 / (at + 1)).toFixed(8)}, ${at % RARE_EVERY === 0 ? RARE : "ok"} for station DE-${at % 12_345}`,
});

/** Log of a pod in the binary form of streams, made before it is asked for. */
export class PrintedLog {
  readonly #messages: readonly Uint8Array[];
  readonly #lines: number;
  #printed = 0;

  constructor(lines: number) {
    this.#lines = lines;
    this.#messages = Array.from({ length: Math.ceil(lines / LINES_PER_MESSAGE) }, (_, at) =>
      frameOf(at * LINES_PER_MESSAGE, Math.min(LINES_PER_MESSAGE, lines - at * LINES_PER_MESSAGE)),
    );
  }

  /** Sends the last lines of what there is, as a request of the tail has them. */
  sendTail(answer: ServerResponse, count: number): void {
    const end = this.#lines + this.#printed;
    answer.writeHead(200, { "Content-Type": FRAMES });
    answer.write(frameOf(Math.max(0, end - count), Math.min(count, end)));
    answer.end(END);
  }

  /** Sends the log, then what the pod prints until `stop` is called or the browser leaves. */
  async send(answer: ServerResponse): Promise<void> {
    answer.writeHead(200, { "Content-Type": FRAMES });
    const closed = new Promise<void>((resolve) => answer.once("close", resolve));
    for (const message of this.#messages) {
      if (answer.destroyed) return;
      if (!answer.write(message)) await Promise.race([once(answer, "drain"), closed]);
    }
    const timer = setInterval(() => {
      answer.write(frameOf(this.#lines + this.#printed, PRINTED));
      this.#printed += PRINTED;
    }, PRINT_MS);
    answer.once("close", () => clearInterval(timer));
  }
}

function frameOf(from: number, count: number): Uint8Array {
  const lines = Array.from({ length: count }, (_, line) => lineAt(from + line));
  const message = toBinary(FollowLogResponseSchema, create(FollowLogResponseSchema, { cursor: `c${from}`, lines }));
  return toBinary(StreamFramesSchema, create(StreamFramesSchema, { messages: [message] }));
}
