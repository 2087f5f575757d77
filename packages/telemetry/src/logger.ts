import { pino, type Logger } from "pino";

export type { Logger };

export interface LoggerOptions {
  /** Service that writes; a field of every line. */
  readonly service: string;
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "silent";
  /** Open file that lines go to; standard output when not given. */
  readonly fd?: number;
}

/** Characters of lines that wait for room. */
const MOST_WAITING = 256 * 1024;

/** Fields that are never written, at the top or up to two levels below. */
const SECRETS = ["authorization", "password", "secretAccessKey", "clientSecret", "token"];

/**
 * A structured logger on standard output. Messages are constant text; what varies
 * goes into fields, named as LogFields has them: `log.info({ execution }, "execution ended")`. Writes are
 * synchronous, so nothing is lost when the process ends. A full disk, or a reader that has gone, costs lines and never the process:
 * lines wait in memory, up to a bound, and are written when there is room.
 */
export function createLogger({ service, level = "info", fd = 1 }: LoggerOptions): Logger {
  const destination = pino.destination({ fd, sync: true, maxLength: MOST_WAITING });
  destination.on("error", () => undefined);
  return pino(
    {
      level,
      base: { service },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      redact: { paths: SECRETS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: "[secret]" },
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}
