import { type BlobStore, BlobTooLargeError } from "@flyte-ts/blobstore";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { readStored, StoredMessageError } from "@flyte-ts/input-limits";
import type { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import { asFileError, fileTooLarge, malformedOutputs, readErrorFile as readErrorDocument } from "@flyte-ts/task-plugin/files";

export type AttemptStore = Pick<BlobStore, "get" | "put" | "head">;

/** Maximum size of outputs.pb or error.pb, bytes. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;
/** Maximum size of outputs passed by value, bytes. */
export const INLINE_BYTES = 8 * 1024;

/** Reads the first error document that exists at these addresses. @throws BlobUnavailableError */
export async function readErrorFile(
  store: AttemptStore,
  uris: readonly string[],
): Promise<PermanentFailure | RetryableFailure | undefined> {
  for (const uri of uris) {
    const failure = await readErrorDocument(store, uri, { maxOutputBytes: MAX_FILE_BYTES });
    if (failure !== undefined) return failure;
  }
  return undefined;
}

export interface OutputsFile {
  readonly bytes: Uint8Array;
  readonly value: LiteralMap;
}

/**
 * Reads the first outputs.pb that exists at these addresses.
 * @throws PermanentFailure for outputs that are too large or malformed; BlobUnavailableError
 */
export async function readOutputsFile(store: AttemptStore, uris: readonly string[]): Promise<OutputsFile | undefined> {
  for (const uri of uris) {
    let read: Uint8Array | undefined;
    const keep = { get: async (...args: Parameters<AttemptStore["get"]>) => (read = await store.get(...args)) };
    const value = await readStored(keep, { uri, schema: LiteralMapSchema, limits: { bytes: MAX_FILE_BYTES } }).catch(asFileError);
    if (value instanceof BlobTooLargeError) throw fileTooLarge(value);
    if (value instanceof StoredMessageError) throw malformedOutputs(value, uri);
    if (value !== undefined && read !== undefined) return { bytes: read, value };
  }
  return undefined;
}
