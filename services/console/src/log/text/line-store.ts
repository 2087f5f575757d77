/** Bytes of a chunk. */
export const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 10;
const RETURN = 13;
const LINE_END = Uint8Array.of(NEWLINE);
/** Stands for a time that is not known. */
const UNKNOWN = -(2 ** 31);
const MAX_DELTA_MS = 2 ** 31 - 1;

interface Chunk {
  readonly bytes: Uint8Array;
  /** Lines that begin before this chunk. */
  readonly firstLine: number;
  /** Offsets at which lines begin; of fixed size once the chunk is full. */
  starts: number[] | Uint16Array;
  /** Times of these lines, milliseconds after `baseMs`. */
  times: number[] | Int32Array;
  baseMs: number;
}

/**
 * Lines of a log as UTF-8 in chunks, all full but the last one. A line may continue in the next
 * chunk. A line costs 6 bytes besides its text; it is decoded when it is read.
 */
export class LineStore {
  /** Lines, with the last one when it has no line end yet. */
  length = 0;
  /** Bytes of the text, with line ends. */
  size = 0;
  readonly #chunks: Chunk[] = [];
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #isInLine = false;

  /** Lines that have a line end. */
  get completeLength(): number {
    return this.length - (this.#isInLine ? 1 : 0);
  }

  /** Bytes that the store holds, those of its index included. */
  get memoryBytes(): number {
    const sizeOf = (column: number[] | Uint16Array | Int32Array): number => (Array.isArray(column) ? column.length * 8 : column.byteLength);
    return this.#chunks.reduce((sum, { bytes, starts, times }) => sum + bytes.byteLength + sizeOf(starts) + sizeOf(times), 0);
  }

  /** Appends a line without its end; `timeMs` is NaN if it is not known. */
  appendLine(text: Uint8Array, timeMs: number): void {
    if (this.#appendWhole(text, timeMs)) return;
    this.append(text, timeMs);
    this.append(LINE_END, timeMs);
  }

  /** Appends a line that lies in one chunk, as almost all do; returns false for another one. */
  #appendWhole(text: Uint8Array, timeMs: number): boolean {
    const used = this.size % CHUNK_BYTES;
    if (used === 0 || this.#isInLine || used + text.length >= CHUNK_BYTES || text.includes(NEWLINE)) return false;
    const chunk = this.#chunks.at(-1) as Chunk;
    this.#beginLine(chunk, used, timeMs);
    chunk.bytes.set(text, used);
    chunk.bytes[used + text.length] = NEWLINE;
    this.size += text.length + 1;
    return true;
  }

  /** Appends a part of the text, cut anywhere; lines that begin in it have its time. */
  append(bytes: Uint8Array, timeMs = Number.NaN): void {
    for (let at = 0; at < bytes.length; ) {
      const used = this.size % CHUNK_BYTES;
      const chunk = used === 0 ? this.#addChunk() : (this.#chunks.at(-1) as Chunk);
      if (!this.#isInLine) this.#beginLine(chunk, used, timeMs);
      const end = bytes.indexOf(NEWLINE, at);
      const next = Math.min(end === -1 ? bytes.length : end + 1, at + CHUNK_BYTES - used);
      chunk.bytes.set(at === 0 && next === bytes.length ? bytes : bytes.subarray(at, next), used);
      this.#isInLine = bytes[next - 1] !== NEWLINE;
      this.size += next - at;
      at = next;
    }
  }

  /** Text of a line without its end. */
  text(line: number): string {
    const from = this.#start(line);
    let to = line + 1 < this.length || !this.#isInLine ? this.#start(line + 1) - 1 : this.size;
    if (to > from && this.#byte(to - 1) === RETURN) to--;
    return this.#decode(from, to);
  }

  /** Time of a line, milliseconds of the epoch; undefined if it is not known. */
  timeMs(line: number): number | undefined {
    const { times, baseMs, firstLine } = this.#chunkOf(line);
    const delta = times[line - firstLine] ?? UNKNOWN;
    return delta === UNKNOWN ? undefined : baseMs + delta;
  }

  /** Text of the complete lines from `line` to the end of the chunk in which it begins. */
  block(line: number): { readonly text: string; readonly to: number } {
    const { firstLine, starts } = this.#chunkOf(line);
    const to = Math.min(firstLine + starts.length, this.completeLength);
    return { text: this.#decode(this.#start(line), this.#start(to)), to };
  }

  /** Bytes of the whole text, in parts. */
  parts(): readonly Uint8Array<ArrayBuffer>[] {
    return this.#chunks.map(({ bytes }, at) => bytes.slice(0, Math.min(CHUNK_BYTES, this.size - at * CHUNK_BYTES)));
  }

  #addChunk(): Chunk {
    const last = this.#chunks.at(-1);
    if (last !== undefined) [last.starts, last.times] = [Uint16Array.from(last.starts), Int32Array.from(last.times)];
    const chunk = { bytes: new Uint8Array(CHUNK_BYTES), firstLine: this.length, starts: [], times: [], baseMs: Number.NaN };
    this.#chunks.push(chunk);
    return chunk;
  }

  #beginLine(chunk: Chunk, offset: number, timeMs: number): void {
    if (Number.isNaN(chunk.baseMs)) chunk.baseMs = timeMs;
    const delta = timeMs - chunk.baseMs;
    (chunk.starts as number[]).push(offset);
    (chunk.times as number[]).push(Math.abs(delta) <= MAX_DELTA_MS ? delta : UNKNOWN);
    this.length++;
  }

  /** Finds the last chunk before which at most `line` lines begin. */
  #chunkOf(line: number): Chunk {
    return this.#chunks[this.#chunkIndex(line)] as Chunk;
  }

  #chunkIndex(line: number): number {
    let [low, high] = [0, this.#chunks.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#chunks[middle] as Chunk).firstLine <= line) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Position of a line's first byte; that of the end for the line after the last one. */
  #start(line: number): number {
    if (line >= this.length) return this.size;
    const index = this.#chunkIndex(line);
    const { starts, firstLine } = this.#chunks[index] as Chunk;
    return index * CHUNK_BYTES + (starts[line - firstLine] as number);
  }

  #byte(at: number): number | undefined {
    return this.#chunks[Math.floor(at / CHUNK_BYTES)]?.bytes[at % CHUNK_BYTES];
  }

  #decode(from: number, to: number): string {
    let text = "";
    for (let at = from; at < to; ) {
      const index = Math.floor(at / CHUNK_BYTES);
      const next = Math.min(to, (index + 1) * CHUNK_BYTES);
      const bytes = (this.#chunks[index] as Chunk).bytes.subarray(at % CHUNK_BYTES, next - index * CHUNK_BYTES);
      text += this.#decoder.decode(bytes, { stream: next < to });
      at = next;
    }
    return text;
  }
}
