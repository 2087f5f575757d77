import { createHash } from "node:crypto";
import type { Authenticated } from "../auth/authenticate.js";
import { hmacHex, scopeText, sha256Hex } from "../auth/signature.js";
import { S3Error } from "../http/s3-error.js";

const MAX_LINE = 4096;
const MAX_TRAILERS = 16;
const EMPTY_HASH = sha256Hex("");

/** Payload forms with `aws-chunked` framing. */
const PAYLOAD_FORMS: Readonly<Record<string, { readonly signed: boolean }>> = {
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD": { signed: true },
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER": { signed: true },
  "STREAMING-UNSIGNED-PAYLOAD-TRAILER": { signed: false },
};

export function isChunkedForm(payloadHash: string): boolean {
  return Object.hasOwn(PAYLOAD_FORMS, payloadHash);
}

/**
 * Decodes a body in aws-chunked form. Signatures are checked at the end of each chunk, so the
 * content is valid only after the last one. Trailing headers are added to `trailers`.
 *
 * @throws S3Error when the framing or a signature is wrong.
 */
export async function* decodeChunks(
  source: AsyncIterable<Buffer>,
  auth: Authenticated,
  trailers: Map<string, string>,
): AsyncGenerator<Buffer> {
  const reader = new ChunkReader(source);
  const chain = PAYLOAD_FORMS[auth.payloadHash]?.signed === true ? new SignatureChain(auth) : undefined;
  try {
    for (;;) {
      const { size, signature } = parseChunkHead(await reader.line());
      const hash = chain === undefined ? undefined : createHash("sha256");
      for await (const data of reader.take(size)) {
        hash?.update(data);
        yield data;
      }
      chain?.checkChunk(hash?.digest("hex") ?? EMPTY_HASH, signature);
      if (size === 0) break;
      if ((await reader.line()) !== "") throw new S3Error("IncompleteBody", "a chunk has another length than declared");
    }
    await readTrailers(reader, trailers, chain);
  } finally {
    // Releases the source, so that the caller can drain it after an error.
    await reader.release();
  }
}

async function readTrailers(reader: ChunkReader, trailers: Map<string, string>, chain: SignatureChain | undefined): Promise<void> {
  let signature: string | undefined;
  for (let count = 0; ; count++) {
    const line = await reader.lineOrEnd();
    if (line === undefined || line === "") break;
    const colon = line.indexOf(":");
    if (colon < 1 || count > MAX_TRAILERS) throw new S3Error("InvalidRequest", "the trailing headers are malformed");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === "x-amz-trailer-signature") signature = value;
    else trailers.set(name, value);
  }
  if (chain !== undefined && trailers.size > 0) chain.checkTrailers(trailers, signature);
}

function parseChunkHead(line: string): { size: number; signature: string | undefined } {
  const match = /^([0-9a-fA-F]{1,12})(?:;chunk-signature=([0-9a-f]{64}))?$/.exec(line);
  if (match === null) throw new S3Error("InvalidRequest", "a chunk header is malformed");
  return { size: Number.parseInt(match[1] ?? "0", 16), signature: match[2] };
}

/**
 * Chain of chunk signatures: each covers the previous one, so that chunks cannot be dropped or
 * reordered.
 */
class SignatureChain {
  readonly #auth: Authenticated;
  #previous: string;

  constructor(auth: Authenticated) {
    this.#auth = auth;
    this.#previous = auth.signature;
  }

  checkChunk(hash: string, signature: string | undefined): void {
    this.#check(["AWS4-HMAC-SHA256-PAYLOAD", this.#auth.time, scopeText(this.#auth.scope), this.#previous, EMPTY_HASH, hash], signature);
  }

  checkTrailers(trailers: ReadonlyMap<string, string>, signature: string | undefined): void {
    const text = [...trailers].map(([name, value]) => `${name}:${value}\n`).join("");
    this.#check(["AWS4-HMAC-SHA256-TRAILER", this.#auth.time, scopeText(this.#auth.scope), this.#previous, sha256Hex(text)], signature);
  }

  #check(lines: readonly string[], signature: string | undefined): void {
    if (hmacHex(this.#auth.key, lines.join("\n")) !== signature)
      throw new S3Error("SignatureDoesNotMatch", "the signature of a chunk does not match");
    this.#previous = signature;
  }
}

/** Reads a stream line by line and by byte counts. */
class ChunkReader {
  readonly #source: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Reads up to the next CRLF. */
  async line(): Promise<string> {
    const line = await this.lineOrEnd();
    if (line === undefined) throw new S3Error("IncompleteBody");
    return line;
  }

  /** Reads up to the next CRLF; undefined at the end of the stream. */
  async lineOrEnd(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf("\r\n");
      if (end >= 0) {
        const line = this.#rest.toString("latin1", 0, end);
        this.#rest = this.#rest.subarray(end + 2);
        return line;
      }
      if (this.#rest.length > MAX_LINE) throw new S3Error("InvalidRequest", "a line of the chunked body is too long");
      const more = await this.#next();
      if (more === undefined) {
        if (this.#rest.length > 0) throw new S3Error("IncompleteBody");
        return undefined;
      }
      this.#rest = Buffer.concat([this.#rest, more]);
    }
  }

  /** Yields the next `size` bytes as they arrive. */
  async *take(size: number): AsyncGenerator<Buffer> {
    let left = size;
    while (left > 0) {
      const data = this.#rest.length > 0 ? this.#rest : await this.#next();
      if (data === undefined) throw new S3Error("IncompleteBody");
      const taken = data.subarray(0, left);
      this.#rest = data.subarray(taken.length);
      left -= taken.length;
      yield taken;
    }
  }

  async release(): Promise<void> {
    await this.#source.return?.();
  }

  async #next(): Promise<Buffer | undefined> {
    const result = await this.#source.next();
    return result.done === true ? undefined : result.value;
  }
}
