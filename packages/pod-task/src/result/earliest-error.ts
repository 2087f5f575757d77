import { mapConcurrent } from "@flyte-ts/async";
import { BlobUnavailableError } from "@flyte-ts/blobstore";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { PermanentFailure, RetryableFailure } from "@flyte-ts/task-plugin";
import type { ListingStore } from "./data-store.js";
import { readErrorFile, type ResultLimits } from "@flyte-ts/task-plugin/files";
import { readErrorDocument } from "./read-result.js";

/** Workers whose documents are read; a job whose workers all fail writes one each. */
const MAX_DOCUMENTS = 1_000;
const CONCURRENT_READS = 8;

/**
 * Reads the error documents of a distributed task, `error.pb` and `error-<worker>.pb`, and returns
 * the earliest error; those without a time come last. Undefined when there is none. Reads only
 * `error.pb` from a store that refuses to list.
 */
export async function readEarliestError(
  store: ListingStore,
  request: TaskRequest,
  limits: ResultLimits,
): Promise<PermanentFailure | RetryableFailure | undefined> {
  const uris = await listDocuments(store, `${request.outputPrefix}/error`);
  if (uris === undefined) return readErrorDocument(store, request, limits);
  const errors = await mapConcurrent(uris, CONCURRENT_READS, (uri) => readErrorFile(store, uri, limits));
  return errors.filter((error) => error !== undefined).toSorted((a, b) => timeOf(a) - timeOf(b))[0];
}

async function listDocuments(store: ListingStore, prefix: string): Promise<string[] | undefined> {
  const uris: string[] = [];
  try {
    for await (const { uri } of store.list(prefix)) {
      if (uri.endsWith(".pb") && !uri.slice(prefix.length).includes("/")) uris.push(uri);
      if (uris.length === MAX_DOCUMENTS) break;
    }
  } catch (error) {
    if (error instanceof BlobUnavailableError) throw error;
    return undefined;
  }
  return uris;
}

function timeOf({ details }: PermanentFailure | RetryableFailure): number {
  return details.timestamp?.getTime() ?? Number.MAX_SAFE_INTEGER;
}
