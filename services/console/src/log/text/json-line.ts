export type LogLevel = "error" | "warn" | "info" | "debug";

/** Log line that is a JSON object. */
export interface JsonLine {
  readonly level: LogLevel | undefined;
  readonly message: string;
  /** All of it, indented. */
  readonly whole: string;
}

const LEVELS: Readonly<Record<string, LogLevel>> = {
  fatal: "error",
  critical: "error",
  error: "error",
  err: "error",
  warn: "warn",
  warning: "warn",
  info: "info",
  debug: "debug",
  trace: "debug",
};
const LEVEL_FIELDS = ["level", "levelname", "severity", "lvl"];
const MESSAGE_FIELDS = ["message", "msg", "event"];
/** Level of a plain line: a word in capitals near its begin. */
const PLAIN_LEVEL = /^.{0,60}?\b(FATAL|CRITICAL|ERROR|WARN(?:ING)?|INFO|DEBUG|TRACE)\b/;
/** Begins of the lines of a Python error. */
const ERROR_LINE = /^(?:Traceback \(most recent call last\)|[\w.]*(?:Error|Exception)(?::|$))/;

/** Reads a line that is a JSON object with a message; undefined for other lines. */
export function readJsonLine(text: string): JsonLine | undefined {
  if (!text.startsWith("{") || !text.trimEnd().endsWith("}")) return undefined;
  const fields = parse(text);
  const message = textOf(fields, MESSAGE_FIELDS);
  if (fields === undefined || message === undefined) return undefined;
  const level = LEVELS[(textOf(fields, LEVEL_FIELDS) ?? "").toLowerCase()];
  return { level, message, whole: JSON.stringify(fields, undefined, 2) };
}

/** Level of a plain line, if it says one. */
export function plainLevel(text: string): LogLevel | undefined {
  if (ERROR_LINE.test(text)) return "error";
  return LEVELS[PLAIN_LEVEL.exec(text)?.[1]?.toLowerCase() ?? ""];
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function textOf(fields: Readonly<Record<string, unknown>> | undefined, names: readonly string[]): string | undefined {
  const value = names.map((name) => fields?.[name]).find((each) => typeof each === "string");
  return typeof value === "string" ? value : undefined;
}
