import type { BlobStore } from "@flyte-ts/blobstore";
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
}

/** Deletes metadata and raw outputs that nothing else needs. Returns the number of blobs. */
export async function deleteBlobs(deps: BlobDeletionDeps, one: ClaimedDeletion): Promise<number> {
  const { blobs, storage, shared, deleter } = deps;
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
    for await (const { uri } of blobs.list(prefix)) {
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
