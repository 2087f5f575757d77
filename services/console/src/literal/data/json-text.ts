import { type Data, isDataList } from "./data.js";

const WHOLE = /^-?\d+$/;
const INDENT = "  ";
/** Longest list or object that is written in one line, characters. */
const MAX_INLINE = 72;

/** Third argument of a reviver of `JSON.parse`, which older browsers do not pass. */
interface ReviverContext {
  readonly source?: string;
}

/**
 * Reads JSON; numbers without a point and an exponent are whole.
 *
 * @throws SyntaxError for a text that is not JSON.
 */
export function parseData(text: string): Data {
  const revive = (_: string, value: unknown, context?: ReviverContext): unknown => {
    if (typeof value !== "number") return value;
    const source = context?.source ?? String(value);
    return WHOLE.test(source) ? BigInt(source) : value;
  };
  return JSON.parse(text, revive) as Data;
}

/** Writes data as JSON in one line. Floats keep a point; nan and inf are as Python writes them. */
export function formatData(data: Data): string {
  if (typeof data === "bigint") return String(data);
  if (typeof data === "number") return formatFloat(data);
  if (isDataList(data)) return `[${data.map(formatData).join(", ")}]`;
  if (typeof data === "object" && data !== null)
    return `{${Object.entries(data)
      .map(([name, value]) => `${JSON.stringify(name)}: ${formatData(value)}`)
      .join(", ")}}`;
  return JSON.stringify(data);
}

/** Writes data as JSON with lines; what is short stays in one. */
export function formatDataLines(data: Data, indent = ""): string {
  const inline = formatData(data);
  if (inline.length + indent.length <= MAX_INLINE || typeof data !== "object" || data === null) return inline;
  const inner = indent + INDENT;
  const parts = isDataList(data)
    ? data.map((value) => formatDataLines(value, inner))
    : Object.entries(data).map(([name, value]) => `${JSON.stringify(name)}: ${formatDataLines(value, inner)}`);
  const [open, close] = isDataList(data) ? "[]" : "{}";
  return `${open}\n${parts.map((part) => inner + part).join(",\n")}\n${indent}${close}`;
}

function formatFloat(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  const text = Object.is(value, -0) ? "-0" : String(value);
  return WHOLE.test(text) ? `${text}.0` : text;
}
