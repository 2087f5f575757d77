import type { IncomingMessage, ServerResponse } from "node:http";
import { chooseEncoding, type Encoding } from "./accepted-encoding.js";
import { compress, MIN_COMPRESSED_BYTES } from "./compress.js";
import { addVary } from "./vary.js";

/**
 * Maximum of compressed streams of a listener: the state of a compressor takes up to 1 MiB.
 * Further streams are sent uncompressed.
 */
const MAX_COMPRESSED_STREAMS = 100;

/** Body of an answer and the headers that describe it. */
export interface EncodedBody {
  readonly body: Uint8Array | string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Compresses the answers of a listener as their clients accept it. */
export class ResponseCompression {
  #streams = 0;

  constructor(readonly maxStreams = MAX_COMPRESSED_STREAMS) {}

  /**
   * Compresses a whole body that is long enough to gain by it. A shorter one does not vary by the
   * codings that the client accepts.
   */
  async encode(request: IncomingMessage, response: ServerResponse, body: Uint8Array | string): Promise<EncodedBody> {
    if (Buffer.byteLength(body) <= MIN_COMPRESSED_BYTES) return { body, headers: {} };
    addVary(response, "Accept-Encoding");
    const encoding = chooseEncoding(request.headers["accept-encoding"]);
    if (encoding === undefined) return { body, headers: {} };
    const bytes = typeof body === "string" ? Buffer.from(body) : body;
    const compressed = await compress(encoding, bytes);
    return compressed.length < bytes.length
      ? { body: compressed, headers: { "Content-Encoding": encoding } }
      : { body: bytes, headers: {} };
  }

  /** Chooses the coding of a stream, which counts until the response closes. */
  streamEncoding(request: IncomingMessage, response: ServerResponse): Encoding | undefined {
    addVary(response, "Accept-Encoding");
    const encoding = chooseEncoding(request.headers["accept-encoding"]);
    if (encoding === undefined || this.#streams >= this.maxStreams || response.destroyed) return undefined;
    this.#streams++;
    response.once("close", () => this.#streams--);
    return encoding;
  }
}
