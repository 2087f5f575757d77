import type { GetTaskLogsResponseBody, LogLine } from "@flyte-ts/idl/flyteidl/admin/agent_pb";

/** Collects lines of a log as text, of which the end is kept. */
export class LogText {
  #lines: string[] = [];
  #bytes = 0;
  #from = 0;

  constructor(private readonly maxBytes: number) {}

  add({ structuredLines, results }: Pick<GetTaskLogsResponseBody, "structuredLines" | "results">): void {
    const lines = structuredLines.length > 0 ? structuredLines.map(lineText) : results;
    for (const line of lines) this.#addLine(`${line}\n`);
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  toBytes(): Uint8Array {
    const bytes = Buffer.from(this.#lines.slice(this.#from).join(""));
    return bytes.subarray(Math.max(0, bytes.length - this.maxBytes));
  }

  #addLine(line: string): void {
    this.#lines.push(line);
    this.#bytes += Buffer.byteLength(line);
    for (let first = this.#lines[this.#from]; first !== undefined && this.#from < this.#lines.length - 1; first = this.#lines[this.#from]) {
      const size = Buffer.byteLength(first);
      if (this.#bytes - size < this.maxBytes) break;
      this.#bytes -= size;
      this.#from++;
    }
    // Frees dropped lines in large steps.
    if (this.#from > 10_000) [this.#lines, this.#from] = [this.#lines.slice(this.#from), 0];
  }
}

/** Writes a line with its time as the archived logs of pods do. */
function lineText({ timestamp, message }: LogLine): string {
  const text = message.replace(/\r?\n$/, "");
  if (timestamp === undefined) return text;
  const seconds = new Date(Number(timestamp.seconds) * 1_000).toISOString().slice(0, 19);
  const lead = `${seconds}.${String(timestamp.nanos).padStart(9, "0")}Z`;
  return text
    .split("\n")
    .map((part) => `${lead} ${part}`)
    .join("\n");
}
