import { type Data, isDataList } from "../literal/data/data.js";
import { formatFloat } from "../literal/scalar/number.js";

/** Writes data as a Python expression. */
export function pythonData(data: Data): string {
  if (data === null) return "None";
  if (typeof data === "boolean") return data ? "True" : "False";
  if (typeof data === "bigint") return String(data);
  if (typeof data === "number") return pythonFloat(data);
  if (typeof data === "string") return pythonText(data);
  if (isDataList(data)) return `[${data.map(pythonData).join(", ")}]`;
  return `{${Object.entries(data)
    .map(([name, value]) => `${pythonText(name)}: ${pythonData(value)}`)
    .join(", ")}}`;
}

/** Writes a text as a Python string: JSON has the same escapes, apart from half characters. */
export function pythonText(text: string): string {
  return JSON.stringify(text).replace(/\u007f/g, "\\u007f");
}

function pythonFloat(value: number): string {
  const text = formatFloat(value);
  if (!Number.isFinite(value)) return `float("${text}")`;
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}
