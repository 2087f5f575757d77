/**
 * Position in a log. Logs are requested by seconds, so it consists of a second and the number of
 * sent lines written in it or later. No sent line is newer than `newest`.
 */
export interface LogPosition {
  readonly second: number;
  readonly lines: number;
  /** Nanoseconds since the epoch. */
  readonly newest: bigint;
}

/** Position in the log of one pod. */
export interface LogCursor {
  readonly attempt: number;
  readonly pod: string;
  readonly container: string;
  /** Undefined before the first line. */
  readonly position: LogPosition | undefined;
}

const VERSION = "1";

export function writeLogCursor({ attempt, pod, container, position }: LogCursor): string {
  const parts = [VERSION, attempt, pod, container, ...(position === undefined ? [] : [position.second, position.lines, position.newest])];
  return Buffer.from(parts.join("/")).toString("base64url");
}

/** Parses a cursor; undefined for an invalid text. */
export function readLogCursor(text: string): LogCursor | undefined {
  const parts = Buffer.from(text, "base64url").toString("latin1").split("/");
  const [version, attempt = "", pod = "", container = "", second = "", lines = "", newest = ""] = parts;
  const numbers = parts.length === 7 ? [attempt, second, lines, newest] : [attempt];
  const named = [pod, container].every((name) => /^[a-z0-9.-]{1,253}$/.test(name));
  if (version !== VERSION || (parts.length !== 4 && parts.length !== 7) || !named) return undefined;
  if (!numbers.every((number) => /^[0-9]{1,19}$/.test(number))) return undefined;
  const position = parts.length === 7 ? { second: Number(second), lines: Number(lines), newest: BigInt(newest) } : undefined;
  return { attempt: Number(attempt), pod, container, position };
}
