import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CompactSourceMap, type SourceMapFile } from "./source-map.js";

/** A frame of a stack trace in built code: address, line, column. */
const POSITION_PATTERN = /(file:\/\/[^\s()]+):(\d+):(\d+)/g;
/** Precedes each frame of a stack trace. */
const FRAME_START = "\n    at ";

/** Time that a source map stays in memory, ms. */
const MAP_TTL_MS = 10_000;

const maps = new Map<string, CompactSourceMap | undefined>();

/**
 * Makes the stack traces in a text name positions in the sources, where a source map lies beside
 * the code. Node's `--enable-source-maps` reads every map when the code is loaded: 100 ms and 30
 * MiB in the largest service. This reads a map when a stack that needs it is printed: Node and
 * clients read the stacks of errors that go no further, such as those of closed connections.
 */
export function mapStack(text: string): string {
  if (!text.includes(FRAME_START)) return text;
  return text.replace(POSITION_PATTERN, (...found: string[]) => toSourcePosition(found));
}

/** Maps the stack traces among the fields of a log line. */
export function mapStackFields(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, typeof value === "string" ? mapStack(value) : value]));
}

/** Makes the stack traces of uncaught errors, which Node prints, name positions in the sources. */
export function installSourceMapSupport(): void {
  process.on("uncaughtExceptionMonitor", (error) => {
    if (error instanceof Error && error.stack !== undefined) error.stack = mapStack(error.stack);
  });
}

function toSourcePosition([position, url, line, column]: readonly string[]): string {
  const origin = mapOf(url ?? "")?.originalPositionFor(Number(line), Number(column));
  if (origin === undefined) return position ?? "";
  return `${new URL(origin.source, url).href}:${origin.line}:${origin.column}`;
}

function mapOf(url: string): CompactSourceMap | undefined {
  if (maps.has(url)) return maps.get(url);
  if (maps.size === 0) setTimeout(() => maps.clear(), MAP_TTL_MS).unref();
  const map = readMap(url);
  maps.set(url, map);
  return map;
}

function readMap(url: string): CompactSourceMap | undefined {
  try {
    return new CompactSourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, "utf8")) as SourceMapFile);
  } catch {
    return undefined;
  }
}
