import type { BlobStore } from "@flyte-ts/blobstore";

/** Maximum of blobs per batch: the limit of one S3 request. */
const MAX_BATCH = 1_000;
/**
 * Limits a batch to the number of blobs that the rate allows in this time, seconds, so that a low
 * rate stays low.
 */
const BATCH_SECONDS = 10;

export interface FolderDeps {
  readonly blobs: Pick<BlobStore, "list" | "deleteAll">;
  readonly blobsPerSecond: number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Called for each deleted batch. */
  readonly onBatch: (blobs: number) => void;
}

/** Deletes all blobs whose URI has the prefix. Returns their number. */
export async function deleteFolder({ blobs, blobsPerSecond, sleep, onBatch }: FolderDeps, prefix: string): Promise<number> {
  const most = Math.min(MAX_BATCH, Math.max(1, Math.floor(blobsPerSecond * BATCH_SECONDS)));
  let deleted = 0;
  let batch: string[] = [];
  const flush = async () => {
    if (batch.length === 0) return;
    const uris = batch;
    batch = [];
    await blobs.deleteAll(uris);
    deleted += uris.length;
    onBatch(uris.length);
    await sleep((uris.length / blobsPerSecond) * 1_000);
  };
  for await (const { uri } of blobs.list(prefix)) {
    batch.push(uri);
    if (batch.length === most) await flush();
  }
  await flush();
  return deleted;
}
