import type { BlobStore } from "@flyte-ts/blobstore";

/** Blobs that are deleted at once. */
const BATCH = 50;

export interface FolderDeps {
  readonly blobs: Pick<BlobStore, "list" | "delete">;
  readonly blobsPerSecond: number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Told of each batch that is gone. */
  readonly onBatch: (blobs: number) => void;
}

/** Deletes all blobs whose address begins so. Gives how many there were. */
export async function deleteFolder({ blobs, blobsPerSecond, sleep, onBatch }: FolderDeps, prefix: string): Promise<number> {
  let deleted = 0;
  let batch: string[] = [];
  const flush = async () => {
    if (batch.length === 0) return;
    const uris = batch;
    batch = [];
    await Promise.all(uris.map((uri) => blobs.delete(uri)));
    deleted += uris.length;
    onBatch(uris.length);
    await sleep((uris.length / blobsPerSecond) * 1_000);
  };
  for await (const { uri } of blobs.list(prefix)) {
    batch.push(uri);
    if (batch.length === BATCH) await flush();
  }
  await flush();
  return deleted;
}
