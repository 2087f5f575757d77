import type { Readable } from "node:stream";

/** Returns the captured text. */
export type OutputTail = () => string;

/**
 * Captures the last `maxChars` characters of output streams, such as those of a child process, in
 * order of arrival.
 */
export function captureTail(streams: readonly (Readable | null)[], maxChars: number): OutputTail {
  let text = "";
  for (const stream of streams) {
    stream?.on("data", (chunk: Buffer) => {
      text = (text + chunk.toString("utf8")).slice(-maxChars);
    });
  }
  return () => text;
}
