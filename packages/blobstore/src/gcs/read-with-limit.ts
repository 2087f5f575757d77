import type { File } from "@google-cloud/storage";
import { BlobTooLargeError } from "../errors.js";
import { statusOf } from "./gcs-errors.js";

/**
 * Reads a blob of at most `maxBytes`. Requests one byte more, so that the answer shows whether the
 * blob is larger; breaking off a stream would close the SDK's other connections.
 *
 * @throws BlobTooLargeError, and the SDK's errors.
 */
export async function readLimited(file: File, { uri, maxBytes }: { readonly uri: string; readonly maxBytes: number }): Promise<Uint8Array> {
  const stream = file.createReadStream({ start: 0, end: maxBytes, decompress: false });
  let size: number | undefined;
  stream.on("response", ({ headers }: { readonly headers: Readonly<Record<string, string | undefined>> }) => {
    size = Number(/\/(\d+)$/.exec(headers["content-range"] ?? "")?.[1] ?? Number.NaN);
  });
  const parts: Uint8Array[] = [];
  try {
    for await (const part of stream as AsyncIterable<Uint8Array>) parts.push(part);
  } catch (error) {
    // An empty blob has no first byte.
    if (statusOf(error) === 416) return new Uint8Array();
    throw error;
  }
  const content = Buffer.concat(parts);
  if (content.byteLength > maxBytes) throw new BlobTooLargeError(uri, size || content.byteLength, maxBytes);
  return content;
}
