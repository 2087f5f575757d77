import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { FollowLogResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { StreamFramesSchema } from "@flyte-ts/idl/flytets/admin/v1/stream_frames_pb";

const FRAMES = "application/x-flyte-ts-frames";
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

  /** Sends the last `endLines` lines, the log, then what the pod prints while the browser reads. */
  async send(answer: ServerResponse, endLines: number): Promise<void> {
    answer.writeHead(200, { "Content-Type": FRAMES });
    const end = this.#lines + this.#printed;
    answer.write(endFrameOf(Math.max(0, end - endLines), Math.min(endLines, end)));
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

const linesOf = (from: number, count: number) => Array.from({ length: count }, (_, line) => lineAt(from + line));

function frameOf(from: number, count: number): Uint8Array {
  return framed({ cursor: `c${from}`, lines: linesOf(from, count) });
}

function endFrameOf(from: number, count: number): Uint8Array {
  return framed({ endLines: linesOf(from, count) });
}

function framed(response: MessageInitShape<typeof FollowLogResponseSchema>): Uint8Array {
  const message = toBinary(FollowLogResponseSchema, create(FollowLogResponseSchema, response));
  return toBinary(StreamFramesSchema, create(StreamFramesSchema, { messages: [message] }));
}
