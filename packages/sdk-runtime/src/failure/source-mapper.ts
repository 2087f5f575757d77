import { readFileSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { fileURLToPath } from "node:url";

/** Part of a source's path that belongs to packages rather than to the author. */
const PACKAGE_PATH = /(^|\/)node_modules\//;

/**
 * Maps stacks from a bundle's modules to the sources that they were made of. Reads source maps only
 * for a stack: a run without errors pays nothing.
 */
export class SourceMapper {
  private readonly maps = new Map<string, SourceMap | undefined>();

  /** @param folder URL of the bundle's folder */
  constructor(private readonly folder: string) {}

  /**
   * Replaces places in the bundle by those in the sources, `src/flows/train.ts:12:5`, and drops the
   * frames of Node.js and of packages below the author's code.
   */
  map(stack: string): string {
    const lines = stack.split("\n");
    const frames = lines.map((line) => this.frame(line));
    const last = frames.findLastIndex((frame) => frame?.own === true);
    return frames
      .flatMap((frame, index) => (frame === undefined ? [lines[index]] : last >= 0 && index > last ? [] : [frame.line]))
      .join("\n");
  }

  /** Returns the mapped line of a frame; undefined for other lines of a stack. */
  private frame(line: string): { readonly line: string; readonly own: boolean } | undefined {
    if (!/^\s+at /.test(line)) return undefined;
    const [place, file, row, column] = /(\bfile:\/\/[^\s()]+?):(\d+):(\d+)/.exec(line) ?? [];
    if (place === undefined || file === undefined || !file.startsWith(this.folder)) return { line, own: false };
    const entry = this.sourceMap(file)?.findEntry(Number(row) - 1, Number(column) - 1);
    if (entry === undefined || !("originalSource" in entry)) return { line, own: false };
    const { originalSource, originalLine, originalColumn } = entry;
    const url = new URL(originalSource, file).href;
    const source = url.startsWith(this.folder) ? decodeURIComponent(url.slice(this.folder.length)) : originalSource;
    return {
      line: line.replace(place, `${source}:${originalLine + 1}:${originalColumn + 1}`),
      own: !PACKAGE_PATH.test(source),
    };
  }

  private sourceMap(url: string): SourceMap | undefined {
    if (!this.maps.has(url)) this.maps.set(url, readSourceMap(url));
    return this.maps.get(url);
  }
}

function readSourceMap(url: string): SourceMap | undefined {
  try {
    const payload = JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, "utf8")) as SourceMapPayload;
    return new SourceMap(payload);
  } catch {
    return undefined;
  }
}
