import { timestampDate } from "@bufbuild/protobuf/wkt";
import { BlobTooLargeError } from "@flyte-ts/blobstore";
import { ContainerError_Kind, type ErrorDocument, ErrorDocumentSchema } from "@flyte-ts/idl/flyteidl/core/errors_pb";
import { ExecutionError_ErrorKind } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { readStored, StoredMessageError } from "@flyte-ts/input-limits";
import { type FailureKind, PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import { dataConfig } from "../copilot/data-config.js";
import type { DataStore } from "./data-store.js";

export interface ResultLimits {
  /** Maximum size of outputs.pb or error.pb, bytes. */
  readonly maxOutputBytes: number;
  /** Maximum size of outputs passed by value, bytes. */
  readonly inlineBytes: number;
}

export interface AttemptResult {
  readonly failure?: PermanentFailure | RetryableFailure;
  readonly outputs?: LiteralMap;
  readonly futuresUri?: string;
  readonly deckUri?: string;
}

/**
 * Reads the results of an attempt whose process succeeded (contract §5.7): an error document, a
 * dynamic workflow, outputs, a deck. Copies nothing.
 */
export async function readResult(store: DataStore, request: TaskRequest, limits: ResultLimits): Promise<AttemptResult> {
  const file = (name: string) => `${request.outputPrefix}/${name}`;
  const declared = Object.keys(request.template?.interface?.outputs?.variables ?? {}).length > 0;
  const [error, futures, outputs, deck] = await Promise.all([
    readError(store, errorDocumentUris(request), limits),
    store.head(file("futures.pb")),
    declared ? readOutputs(store, file("outputs.pb"), limits) : undefined,
    request.template?.metadata?.generatesDeck === false ? undefined : store.head(file("deck.html")),
  ]);
  const withDeck = deck === undefined ? {} : { deckUri: file("deck.html") };
  if (error !== undefined) return { failure: error, ...withDeck };
  if (futures !== undefined) return { futuresUri: file("futures.pb"), ...withDeck };
  switch (outputs?.kind) {
    case undefined:
    case "large":
      return withDeck;
    case "small":
      return { outputs: outputs.value, ...withDeck };
    case "none":
      return { failure: outputsNotFound(), ...withDeck };
    case "bad":
      return { failure: outputs.failure, ...withDeck };
  }
}

/** Go Flyte's copilot writes `errors.pb` when it fails; all other programs `error.pb`. */
function errorDocumentUris(request: TaskRequest): string[] {
  const names = dataConfig(request)?.enabled ? ["error.pb", "errors.pb"] : ["error.pb"];
  return names.map((name) => `${request.outputPrefix}/${name}`);
}

/** Reads the attempt's error document; undefined when there is none. */
export function readErrorDocument(
  store: DataStore,
  request: TaskRequest,
  limits: ResultLimits,
): Promise<PermanentFailure | RetryableFailure | undefined> {
  return readError(store, errorDocumentUris(request), limits);
}

async function readError(
  store: DataStore,
  uris: readonly string[],
  limits: ResultLimits,
): Promise<PermanentFailure | RetryableFailure | undefined> {
  for (const uri of uris) {
    const failure = await readErrorFile(store, uri, limits);
    if (failure !== undefined) return failure;
  }
  return undefined;
}

/** Reads one error document; undefined when it does not exist. */
export async function readErrorFile(
  store: DataStore,
  uri: string,
  { maxOutputBytes }: ResultLimits,
): Promise<PermanentFailure | RetryableFailure | undefined> {
  const limits = { bytes: maxOutputBytes, elements: MAX_ERROR_ELEMENTS };
  const document = await readStored(store, { uri, schema: ErrorDocumentSchema, limits }).catch(asReadError);
  if (document instanceof BlobTooLargeError) return tooLarge(document);
  if (document instanceof StoredMessageError) return badFormat(document.message, uri);
  return document === undefined ? undefined : toFailure(document, uri);
}

/** An error has some ten fields; others are foreign, and each would become an object. */
const MAX_ERROR_ELEMENTS = 10_000;

const badFormat = (why: string, uri: string): RetryableFailure =>
  new RetryableFailure({ code: "ErrorFileBadFormat", message: `error not formatted correctly, ${why} @path [${uri}]`, kind: "SYSTEM" });

function toFailure({ error }: ErrorDocument, uri: string): PermanentFailure | RetryableFailure {
  if (error === undefined) return badFormat("nil error", uri);
  const details = {
    code: error.code,
    message: error.message,
    kind: ExecutionError_ErrorKind[error.origin] as FailureKind,
    ...(error.timestamp === undefined ? {} : { timestamp: timestampDate(error.timestamp) }),
    ...(error.worker === "" ? {} : { worker: error.worker }),
  };
  return error.kind === ContainerError_Kind.RECOVERABLE ? new RetryableFailure(details) : new PermanentFailure(details);
}

type OutputsFile =
  | { readonly kind: "none" | "large" }
  | { readonly kind: "small"; readonly value: LiteralMap }
  | { readonly kind: "bad"; readonly failure: PermanentFailure };

/**
 * Returns the outputs when they are small enough to pass by value; most are, so that one request
 * suffices.
 */
async function readOutputs(store: DataStore, uri: string, { maxOutputBytes, inlineBytes }: ResultLimits): Promise<OutputsFile> {
  const value = await readStored(store, { uri, schema: LiteralMapSchema, limits: { bytes: inlineBytes } }).catch(asReadError);
  if (value === undefined) return { kind: "none" };
  if (value instanceof BlobTooLargeError) {
    const { size } = value;
    return size > maxOutputBytes ? { kind: "bad", failure: tooLarge({ uri, size, maxBytes: maxOutputBytes }) } : { kind: "large" };
  }
  if (value instanceof StoredMessageError) {
    const message = `outputs at [${uri}] are not a literal map: ${value.message}`;
    return { kind: "bad", failure: new PermanentFailure({ code: "OutputsBadFormat", message }) };
  }
  return { kind: "small", value };
}

/** Returns an error about the document itself; rethrows others. */
function asReadError(error: unknown): BlobTooLargeError | StoredMessageError {
  if (error instanceof BlobTooLargeError || error instanceof StoredMessageError) return error;
  throw error;
}

/** UNKNOWN, so that it uses the user's retries: the code succeeded but wrote nothing. */
function outputsNotFound(): RetryableFailure {
  return new RetryableFailure({ code: "OutputsNotFound", message: "Outputs not generated by task execution", kind: "UNKNOWN" });
}

function tooLarge({ uri, size, maxBytes }: { readonly uri: string; readonly size: number; readonly maxBytes: number }): PermanentFailure {
  const message = `Remote output size exceeds max, err: [output file @[${uri}] is too large [${size}] bytes, max allowed [${maxBytes}] bytes]`;
  return new PermanentFailure({ code: "OutputSizeExceeded", message });
}
