import { BlobTooLargeError } from "@flyte-ts/blobstore";
import { ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type BlobReader, readStored, StoredMessageError } from "@flyte-ts/input-limits";
import type { PermanentFailure, RetryableFailure } from "../failure.js";
import { asFileError, errorFailure, fileTooLarge, malformedErrorFile, malformedOutputs } from "./failures.js";

export interface ResultLimits {
  /** Maximum size of outputs.pb or error.pb, bytes. */
  readonly maxOutputBytes: number;
  /** Maximum size of outputs passed by value, bytes. */
  readonly inlineBytes: number;
}

/**
 * Maximum number of elements in an error document. An error has some ten fields; further ones are
 * foreign, and each would become an object.
 */
export const MAX_ERROR_ELEMENTS = 10_000;

/**
 * Reads an error document; undefined when it does not exist.
 *
 * @throws BlobUnavailableError
 */
export async function readErrorFile(
  store: BlobReader,
  uri: string,
  { maxOutputBytes }: Pick<ResultLimits, "maxOutputBytes">,
): Promise<PermanentFailure | RetryableFailure | undefined> {
  const limits = { bytes: maxOutputBytes, elements: MAX_ERROR_ELEMENTS };
  const document = await readStored(store, { uri, schema: ErrorDocumentSchema, limits }).catch(asFileError);
  if (document instanceof BlobTooLargeError) return fileTooLarge(document);
  if (document instanceof StoredMessageError) return malformedErrorFile(document.message, uri);
  if (document === undefined) return undefined;
  return document.error === undefined ? malformedErrorFile("nil error", uri) : errorFailure(document.error);
}

/** `large`: the outputs stay in the file. */
export type OutputsFile =
  | { readonly kind: "none" | "large" }
  | { readonly kind: "small"; readonly value: LiteralMap }
  | { readonly kind: "bad"; readonly failure: PermanentFailure };

/**
 * Reads outputs that are small enough to pass by value. Most outputs are small, so one request
 * usually suffices.
 *
 * @throws BlobUnavailableError
 */
export async function readOutputsFile(store: BlobReader, uri: string, { maxOutputBytes, inlineBytes }: ResultLimits): Promise<OutputsFile> {
  const value = await readStored(store, { uri, schema: LiteralMapSchema, limits: { bytes: inlineBytes } }).catch(asFileError);
  if (value === undefined) return { kind: "none" };
  if (value instanceof BlobTooLargeError) {
    const { size } = value;
    return size > maxOutputBytes ? { kind: "bad", failure: fileTooLarge({ uri, size, maxBytes: maxOutputBytes }) } : { kind: "large" };
  }
  if (value instanceof StoredMessageError) return { kind: "bad", failure: malformedOutputs(value, uri) };
  return { kind: "small", value };
}
