import { BlobFailure } from "./blob-access.js";

/** Yields the body of an answer. An interrupted answer is a transient failure. */
export async function* responsePieces(uri: string, body: AsyncIterable<Uint8Array> | null): AsyncIterable<Uint8Array> {
  if (body === null) return;
  try {
    yield* body;
  } catch (cause) {
    throw new BlobFailure(uri, `the answer was interrupted: ${String((cause as Error).cause ?? cause)}`, { transient: true, cause });
  }
}
