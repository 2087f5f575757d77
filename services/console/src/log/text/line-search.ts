import { stripEscapes } from "./ansi.js";
import type { LineStore } from "./line-store.js";
import { compileQuery, type LogPattern, type LogQuery } from "./log-pattern.js";

const FIRST_CAPACITY = 1_024;

/** Lines of a store that match a query, found chunk by chunk; goes on when lines are appended. */
export class LineSearch {
  /** Lines that match. */
  count = 0;
  /** First line that is not searched yet. */
  next = 0;
  readonly #pattern: LogPattern;
  #lines = new Int32Array(FIRST_CAPACITY);

  /** @throws SyntaxError when the regular expression is malformed */
  constructor(query: LogQuery) {
    this.#pattern = compileQuery(query);
  }

  /** Searches the next lines, about one chunk. Returns false when there are none. */
  step(store: LineStore): boolean {
    if (this.next >= store.completeLength) return false;
    const { text, to } = store.block(this.next);
    const visible = text.includes("\u001b") ? stripEscapes(text) : text;
    // A line may begin after a carriage return for an expression, but not for its reader.
    if (this.#pattern.isOfOneLine && !visible.includes("\r")) this.#searchBlock(visible);
    else this.#searchLines(visible);
    this.next = to;
    return true;
  }

  /** Index of the first match at or after a line; `count` if there is none. */
  indexFrom(line: number): number {
    let [low, high] = [0, this.count];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#lines[middle] as number) < line) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Line of a match. */
  lineAt(index: number): number {
    return this.#lines[index] as number;
  }

  /** Marks the parts of the log that have matches: `parts` of equal numbers of lines. */
  marks(parts: number, lines: number): Uint8Array {
    const marks = new Uint8Array(parts);
    for (let index = 0; index < this.count; index++) marks[Math.floor(((this.#lines[index] as number) * parts) / lines)] = 1;
    return marks;
  }

  #searchBlock(text: string): void {
    const { regex } = this.#pattern;
    let [line, lineEnd] = [this.next, text.indexOf("\n")];
    regex.lastIndex = 0;
    for (let match = regex.exec(text); match !== null; match = regex.exec(text)) {
      // An expression that matches nothing also does so after the last line end.
      if (match.index >= text.length) return;
      for (; lineEnd < match.index; line++) lineEnd = text.indexOf("\n", lineEnd + 1);
      this.#add(line++);
      regex.lastIndex = lineEnd + 1;
      lineEnd = text.indexOf("\n", lineEnd + 1);
    }
  }

  #searchLines(text: string): void {
    const { regex } = this.#pattern;
    for (let [line, from] = [this.next, 0]; from < text.length; line++) {
      const end = text.indexOf("\n", from);
      regex.lastIndex = 0;
      if (regex.test(text.slice(from, text[end - 1] === "\r" && end > from ? end - 1 : end))) this.#add(line);
      from = end + 1;
    }
  }

  #add(line: number): void {
    if (this.count === this.#lines.length) {
      const grown = new Int32Array(this.count * 2);
      grown.set(this.#lines);
      this.#lines = grown;
    }
    this.#lines[this.count++] = line;
  }
}
