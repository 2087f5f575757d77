import type { Context } from "@flyte-ts/sdk/runtime";

const LEVELS = ["debug", "info", "warn", "error"] as const;

/** Writes a line for each message to the standard output: text, or a JSON object. */
export function createLog(form: "text" | "json"): Context["log"] {
  const line =
    (level: (typeof LEVELS)[number]) =>
    (message: string, fields: object = {}) => {
      const time = new Date().toISOString();
      const text = form === "json" ? toJson({ time, level, message, ...fields }) : textLine(`${time} ${level} ${message}`, fields);
      process.stdout.write(`${text}\n`);
    };
  return { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
}

function textLine(text: string, fields: object): string {
  return Object.keys(fields).length === 0 ? text : `${text} ${toJson(fields)}`;
}

/** Encodes fields, also those that JSON does not know: a log line never fails a task. */
function toJson(value: object): string {
  try {
    return JSON.stringify(value, (_key, field: unknown) => {
      if (typeof field === "bigint") return String(field);
      return field instanceof Error ? (field.stack ?? field.message) : field;
    });
  } catch {
    return '"fields that cannot be written as JSON"';
  }
}
