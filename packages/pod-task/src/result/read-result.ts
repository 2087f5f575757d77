import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import { outputsNotFound, readErrorFile, readOutputsFile, type ResultLimits } from "@flyte-ts/task-plugin/files";
import { dataConfig } from "../copilot/data-config.js";
import type { DataStore } from "./data-store.js";

export interface AttemptResult {
  readonly failure?: PermanentFailure | RetryableFailure;
  readonly outputs?: LiteralMap;
  readonly futuresUri?: string;
  readonly deckUri?: string;
}

/**
 * Reads the results of an attempt whose process succeeded: an error document, a
 * dynamic workflow, outputs, a deck. Copies nothing.
 */
export async function readResult(store: DataStore, request: TaskRequest, limits: ResultLimits): Promise<AttemptResult> {
  const file = (name: string) => `${request.outputPrefix}/${name}`;
  const declared = Object.keys(request.template?.interface?.outputs?.variables ?? {}).length > 0;
  const [error, futures, outputs, deck] = await Promise.all([
    readError(store, errorDocumentUris(request), limits),
    store.head(file("futures.pb")),
    declared ? readOutputsFile(store, file("outputs.pb"), limits) : undefined,
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
