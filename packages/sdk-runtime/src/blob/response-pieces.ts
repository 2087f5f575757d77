import { BlobFailure } from "./blob-access.js";

/** Returns the body of an answer in pieces. An interrupted answer is a transient failure. */
export async function* responsePieces(uri: string, response: Response): AsyncIterable<Uint8Array> {
  if (response.body === null) return;
  try {
    yield* response.body;
  } catch (cause) {
    throw new BlobFailure(uri, `the answer was interrupted: ${String((cause as Error).cause ?? cause)}`, { transient: true, cause });
  }
}
