/** Media type of server-sent events. */
export const EVENT_STREAM = "text/event-stream";
/** Media type of the binary form of streams; the body is a `flytets.admin.v1.StreamFrames`. */
export const FRAMES = "application/x-flyte-ts-frames";

/** True when lines of `Accept` name a media type, with whatever parameters. */
export function accepts(lines: readonly string[], type: string): boolean {
  return lines.some((line) => line.split(",").some((part) => part.split(";")[0]?.trim().toLowerCase() === type));
}

/**
 * Accept of clients that send `application/json` and read lowerCamelCase names. Without it, the
 * answer has names as in the .proto files, as the request's type says.
 */
export const CAMEL_JSON = "application/vnd.flyte-ts+json";
