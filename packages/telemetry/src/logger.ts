import { pino, type Logger } from "pino";
import { mapStackFields } from "./map-stacks.js";

export type { Logger };

export interface LoggerOptions {
  /** Name of the service; a field of every line. */
  readonly service: string;
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "silent";
  /** Open file descriptor for the lines; default: standard output. */
  readonly fd?: number;
}

/** Maximum of buffered characters while the output is blocked. */
const MAX_BUFFERED_CHARS = 256 * 1024;

/** Redacted fields, at the top level and up to two levels below. */
const REDACTED_FIELDS = ["authorization", "password", "secretAccessKey", "clientSecret", "token"];

/**
 * Creates a structured logger. Messages are constant text; variable facts are fields, named as in
 * LogFields: `log.info({ execution }, "execution ended")`. Stack traces name positions in the
 * sources. Writes are synchronous, so nothing is lost when the process ends. A full disk or a
 * closed pipe costs lines and never the process: lines are buffered in memory, up to a bound, and
 * written when the output accepts them.
 */
export function createLogger({ service, level = "info", fd = 1 }: LoggerOptions): Logger {
  const destination = pino.destination({ fd, sync: true, maxLength: MAX_BUFFERED_CHARS });
  destination.on("error", () => undefined);
  return pino(
    {
      level,
      base: { service },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      redact: { paths: REDACTED_FIELDS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[secret]" },
      formatters: { level: (label) => ({ level: label }), log: mapStackFields },
    },
    destination,
  );
}
