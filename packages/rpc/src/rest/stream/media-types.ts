/** Media type of server-sent events. */
export const EVENT_STREAM = "text/event-stream";
/** Media type of the binary form of streams; the body is a `flytets.admin.v1.StreamFrames`. */
export const FRAMES = "application/x-flyte-ts-frames";

/** True when lines of `Accept` name a media type, with whatever parameters. */
export function accepts(lines: readonly string[], type: string): boolean {
  return lines.some((line) => line.split(",").some((part) => part.split(";")[0]?.trim().toLowerCase() === type));
}
