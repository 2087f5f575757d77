import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CompactSourceMap, type SourceMapFile } from "./source-map.js";

/** A position in built code: address, line, column. */
const POSITION_PATTERN = /(file:\/\/[^\s()]+):(\d+):(\d+)/;

/** Time that a source map stays in memory, ms. */
const MAP_TTL_MS = 10_000;

/**
 * Makes stack traces name positions in the sources, where a source map lies beside the code. Node's
 * `--enable-source-maps` reads every map when the code is loaded: 100 ms and 30 MiB in the largest
 * service. This reads a map when a stack that needs it is first formatted.
 */
export function installSourceMapSupport(): void {
  const maps = new Map<string, CompactSourceMap | undefined>();
  const mapOf = (url: string): CompactSourceMap | undefined => {
    if (maps.has(url)) return maps.get(url);
    if (maps.size === 0) setTimeout(() => maps.clear(), MAP_TTL_MS).unref();
    const map = readMap(url);
    maps.set(url, map);
    return map;
  };
  Error.prepareStackTrace = (error, sites) => {
    // The type omits that call sites have their own toString.
    const frames = (sites as readonly { toString(): string }[]).map(
      (site) => `\n    at ${site.toString().replace(POSITION_PATTERN, (...found: string[]) => toSourcePosition(found, mapOf))}`,
    );
    return `${headline(error)}${frames.join("")}`;
  };
}

function toSourcePosition([position, url, line, column]: readonly string[], mapOf: (url: string) => CompactSourceMap | undefined): string {
  const origin = mapOf(url ?? "")?.originalPositionFor(Number(line), Number(column));
  if (origin === undefined) return position ?? "";
  return `${new URL(origin.source, url).href}:${origin.line}:${origin.column}`;
}

function readMap(url: string): CompactSourceMap | undefined {
  try {
    return new CompactSourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, "utf8")) as SourceMapFile);
  } catch {
    return undefined;
  }
}

/** An error's own toString may throw. */
function headline(error: Error): string {
  try {
    return Error.prototype.toString.call(error);
  } catch {
    return "Error";
  }
}
