import { pino, type Logger } from "pino";

export type { Logger };

export interface LoggerOptions {
  /** Service that writes; a field of every line. */
  readonly service: string;
  readonly level?: "trace" | "debug" | "info" | "warn" | "error" | "silent";
}

/**
 * A structured logger on standard output. Messages are constant text; what varies
 * goes into fields: `log.info({ execution }, "execution ended")`. Writes are
 * synchronous, so nothing is lost when the process ends.
 */
export function createLogger({ service, level = "info" }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: { service },
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 1, sync: true }),
  );
}
