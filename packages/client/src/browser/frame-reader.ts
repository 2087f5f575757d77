import { decodeStatus, RestError, UNAVAILABLE } from "./rest-error.js";

/** Bytes that begin the frames of `flytets.admin.v1.StreamFrames`. */
const MESSAGE = 0x0a;
const END = 0x12;
/** Bytes of the longest varint of a length below 4 GiB. */
const MAX_LENGTH_BYTES = 5;
/** Maximum of a frame, bytes: a longer one is no frame of admin. */
const MAX_FRAME_BYTES = 256 * 1024 * 1024;

/**
 * Yields the encoded messages of a binary stream (`application/x-flyte-ts-frames`) as they arrive.
 * It reads no more than its consumer takes, so that a slow one slows the server down.
 *
 * @throws RestError with the status of the stream when it failed, UNAVAILABLE when it was cut off;
 *   the signal's reason when it is aborted.
 */
export async function* readFrames(body: ReadableStream<Uint8Array>, signal?: AbortSignal): AsyncGenerator<Uint8Array, void> {
  const reader = body.getReader();
  const buffer = new FrameBuffer();
  try {
    for (;;) {
      for (let frame = buffer.next(); frame !== undefined; frame = buffer.next()) {
        if (frame.kind === MESSAGE) yield frame.bytes;
        if (frame.kind !== END) continue;
        const { code, message } = decodeStatus(frame.bytes);
        if (code !== 0) throw new RestError(code, message, 200);
        return;
      }
      const { done, value } = await reader.read();
      if (done) throw new RestError(UNAVAILABLE, "the stream was cut off", 200);
      buffer.push(value);
    }
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof RestError) throw error;
    throw new RestError(UNAVAILABLE, "the stream was cut off", 200, { cause: error });
  } finally {
    // A consumer that stops early closes the connection.
    await reader.cancel().catch(() => undefined);
  }
}

interface Frame {
  readonly kind: number;
  readonly bytes: Uint8Array;
}

/** Bytes that have arrived, from which whole frames are taken. */
class FrameBuffer {
  #chunks: Uint8Array[] = [];
  #length = 0;
  /** Length at which the next frame is complete, if it is known. */
  #needed = 0;

  push(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** Takes the next frame; undefined until all of it has arrived. */
  next(): Frame | undefined {
    if (this.#length === 0 || this.#length < this.#needed) return undefined;
    const bytes = this.#joined();
    let [size, scale, at] = [0, 1, 1];
    for (; ; at++, scale *= 128) {
      const byte = bytes[at];
      if (byte === undefined) return undefined;
      if (at > MAX_LENGTH_BYTES) throw new Error("the length of a frame is malformed");
      size += (byte & 127) * scale;
      if (byte < 128) break;
    }
    if (size > MAX_FRAME_BYTES) throw new Error(`a frame has ${size} bytes`);
    const start = at + 1;
    this.#needed = start + size;
    if (bytes.length < this.#needed) return undefined;
    const rest = bytes.subarray(this.#needed);
    const frame = { kind: bytes[0] ?? 0, bytes: bytes.subarray(start, this.#needed) };
    [this.#chunks, this.#length, this.#needed] = [rest.length === 0 ? [] : [rest], rest.length, 0];
    return frame;
  }

  /** Joins the chunks, once for each frame that takes several. */
  #joined(): Uint8Array {
    const [first] = this.#chunks;
    if (first !== undefined && this.#chunks.length === 1) return first;
    const joined = new Uint8Array(this.#length);
    let at = 0;
    for (const chunk of this.#chunks) {
      joined.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [joined];
    return joined;
  }
}
