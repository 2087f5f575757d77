import { readTaggedLine } from "@flyte-ts/domain/name";
import type { StampedLine } from "./line-dedup.js";

/**
 * Selects the lines of one attempt from the log of a pod that serves several, one after the other.
 * Without a tag all lines are the attempt's.
 */
export class AttemptLines {
  #hasBegun = false;
  #isOver = false;

  constructor(private readonly tag: string | undefined) {}

  /** True when the attempt will write no more lines, though its container goes on. */
  get isOver(): boolean {
    return this.#isOver;
  }

  select(lines: readonly StampedLine[]): readonly StampedLine[] {
    const { tag } = this;
    return tag === undefined ? lines : lines.flatMap((line) => this.#own(line, tag));
  }

  #own(line: StampedLine, tag: string): StampedLine[] {
    const read = readTaggedLine(line.text, tag);
    // A line of another attempt follows the end of this one.
    if (read === undefined) this.#isOver ||= this.#hasBegun;
    else this.#hasBegun = true;
    if (read?.kind === "mark") this.#isOver ||= isEnd(read.json);
    return read?.kind === "line" ? [{ ...line, text: read.text }] : [];
  }
}

function isEnd(json: string): boolean {
  try {
    return "end" in (JSON.parse(json) as object);
  } catch {
    return false;
  }
}
