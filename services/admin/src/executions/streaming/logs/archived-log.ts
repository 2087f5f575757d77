import { type BlobStore, BlobTooLargeError, BlobUnavailableError } from "@flyte-ts/blobstore";
import type { TaskLog } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import { notFound } from "../../../platform/index.js";
import { LineSplitter, type StampedLine } from "./line-dedup.js";

/** Copy of a container's log, which the pod plugin service uploads when the pod has ended. */
export interface ArchivedLog {
  readonly container: string;
  readonly uri: string;
}

/** Selects the links of an attempt that refer to archived logs. */
export function archivedLogs(logs: readonly TaskLog[]): ArchivedLog[] {
  return logs.flatMap(({ name, uri }) => {
    const container = /^Archived log of (\S+)$/.exec(name)?.[1];
    return container === undefined ? [] : [{ container, uri }];
  });
}

/** Maximum size of an archived log, bytes. Its lines take several times as much memory. */
const MAX_LOG_BYTES = 32 * 1024 * 1024;

/**
 * Reads all lines. @throws RpcError NOT_FOUND when it does not exist, or not yet; OUT_OF_RANGE when
 * it is too large; UNAVAILABLE.
 */
export async function readArchived(blobs: Pick<BlobStore, "get">, { uri, container }: ArchivedLog): Promise<readonly StampedLine[]> {
  const bytes = await blobs.get(uri, { maxBytes: MAX_LOG_BYTES }).catch((cause: unknown) => {
    if (cause instanceof BlobUnavailableError)
      throw new RpcError(Code.UNAVAILABLE, "the log cannot be read from the blob store, try again", { cause });
    if (cause instanceof BlobTooLargeError)
      throw new RpcError(Code.OUT_OF_RANGE, `the archived log is too large: ${cause.message}`, { cause });
    throw cause;
  });
  if (bytes === undefined) throw notFound(`the log of container ${container} does not exist: its pod was deleted, and it was not archived`);
  const splitter = new LineSplitter();
  return [...splitter.add(bytes), ...splitter.end()];
}
