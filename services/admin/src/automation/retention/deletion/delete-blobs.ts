import type { Semaphore } from "@flyte-ts/async";
import type { BlobEntry, BlobStore } from "@flyte-ts/blobstore";
import type { AutomationConfig } from "../../config.js";
import { metadataPaths, rawOutputFolders } from "./storage-paths.js";
import type { AttemptReader } from "./attempt-reader.js";
import type { BlobDeleter } from "./blob-deleter.js";
import type { ClaimedDeletion } from "./claimed-deletion.js";
import type { SharedFolders } from "./shared-folders.js";

export interface BlobDeletionDeps {
  readonly blobs: Pick<BlobStore, "list" | "join">;
  readonly storage: AutomationConfig["storage"];
  readonly shared: SharedFolders;
  readonly attempts: AttemptReader;
  readonly deleter: BlobDeleter;
  /** Bounds the lists of concurrent deletions. */
  readonly lists: Semaphore;
}

/** Deletes metadata and raw outputs that nothing else needs. Returns the number of blobs. */
export async function deleteBlobs(deps: BlobDeletionDeps, one: ClaimedDeletion): Promise<number> {
  const { blobs, storage, shared, deleter, lists } = deps;
  const { metadata, rawOutputs } = await shared.of(one);
  const paths = metadata ? { folder: undefined, inputs: [] } : metadataPaths(blobs, storage, one);
  let deleted = 0;
  let listed: string[] = [];
  const flush = async (possible: readonly string[] = []) => {
    const chunk = { listed, possible };
    listed = [];
    if (chunk.listed.length + possible.length === 0) return;
    await deleter.delete(chunk);
    deleted += chunk.listed.length;
  };
  for await (const prefix of foldersOf(deps, { one, metadataFolder: paths.folder, keepsRawOutputs: rawOutputs || one.keepsRawOutputs })) {
    for await (const { uri } of bounded(blobs.list(prefix), lists)) {
      listed.push(uri);
      if (listed.length === deleter.maxChunk) await flush();
    }
  }
  await flush(paths.inputs);
  return deleted;
}

interface Folders {
  readonly one: ClaimedDeletion;
  readonly metadataFolder: string | undefined;
  readonly keepsRawOutputs: boolean;
}

async function* foldersOf({ attempts }: BlobDeletionDeps, { one, metadataFolder, keepsRawOutputs }: Folders): AsyncGenerator<string> {
  if (metadataFolder !== undefined) yield metadataFolder;
  if (keepsRawOutputs) return;
  for await (const attempt of attempts.of(one.id)) yield* rawOutputFolders(one.rawOutputPrefix, { execution: one.name, ...attempt });
}

/** Requests the next blob, and with it maybe the next page, under a permit. */
async function* bounded(blobs: AsyncIterable<BlobEntry>, lists: Semaphore): AsyncGenerator<BlobEntry> {
  const iterator = blobs[Symbol.asyncIterator]();
  for (;;) {
    const step = await lists.run(() => iterator.next());
    if (step.done === true) return;
    yield step.value;
  }
}
