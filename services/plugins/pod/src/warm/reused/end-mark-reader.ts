import { readTaggedLine } from "@flyte-ts/domain/name";
import { type AttemptEnd, parseAttemptEnd } from "@flyte-ts/pod-task/warm";

/** Maximum length of a mark; a longer line is one of the attempt. */
const MAX_MARK_LENGTH = 64 * 1024;

/** Finds the mark of one attempt's end in the chunks of a log, whose lines follow their time. */
export class EndMarkReader {
  /** True once a line of the attempt was read: its supervisor has started it. */
  hasStarted = false;
  readonly #decoder = new TextDecoder();
  #rest = "";
  /** True while a line is read that is too long for a mark. */
  #skipping = false;

  constructor(
    private readonly tag: string,
    private readonly take: string,
  ) {}

  add(chunk: Uint8Array): AttemptEnd | undefined {
    const lines = this.#decoder.decode(chunk, { stream: true }).split("\n");
    for (const [index, text] of lines.entries()) {
      const line = this.#rest + text;
      if (index === lines.length - 1) {
        this.#keep(line);
        return undefined;
      }
      const end = this.#skipping ? undefined : this.#read(line);
      this.#rest = "";
      this.#skipping = false;
      if (end !== undefined) return end;
    }
    return undefined;
  }

  #keep(line: string): void {
    this.#skipping ||= line.length > MAX_MARK_LENGTH;
    this.#rest = this.#skipping ? "" : line;
  }

  #read(line: string): AttemptEnd | undefined {
    const tagged = readTaggedLine(line.slice(line.indexOf(" ") + 1), this.tag);
    this.hasStarted ||= tagged !== undefined;
    const end = tagged?.kind === "mark" ? parseAttemptEnd(tagged.json) : undefined;
    return end?.take === this.take ? end : undefined;
  }
}
