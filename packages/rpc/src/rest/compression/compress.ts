import type { ServerResponse } from "node:http";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import type { Encoding } from "./accepted-encoding.js";

/** Shorter answers gain less than the header and the processor time cost, bytes. */
export const MIN_COMPRESSED_BYTES = 1024;

/**
 * Levels for answers that are compressed once and read once: Brotli's 4 is about as fast as gzip's
 * default and smaller.
 */
const BROTLI_QUALITY = 4;
const GZIP_LEVEL = 1;

const [compressBrotli, compressGzip] = [promisify(brotliCompress), promisify(gzip)];

const compressors: Readonly<Record<Encoding, (body: Uint8Array) => Promise<Buffer>>> = {
  br: (body) =>
    compressBrotli(body, {
      params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: body.length },
    }),
  gzip: (body) => compressGzip(body, { level: GZIP_LEVEL }),
};

/** Compresses a whole body, on a thread of its own. */
export function compress(encoding: Encoding, body: Uint8Array): Promise<Buffer> {
  return compressors[encoding](body);
}

/**
 * Opens the body of a stream: each write is compressed and flushed, so that a client sees every
 * message at once. Closing the response closes the body; a full response blocks the body's writes.
 */
export function openCompressedBody(encoding: Encoding, response: ServerResponse): Writable {
  const body =
    encoding === "br"
      ? createBrotliCompress({
          flush: constants.BROTLI_OPERATION_FLUSH,
          params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY },
        })
      : createGzip({ level: GZIP_LEVEL, flush: constants.Z_SYNC_FLUSH });
  response.once("close", () => body.destroy());
  body.once("error", () => response.destroy());
  body.pipe(response);
  return body;
}
