import { BatchQueue } from "@flyte-ts/async";
import type { BlobStore } from "@flyte-ts/blobstore";

/** Maximum of blobs per batch: the limit of one S3 request. */
const MAX_BATCH = 1_000;
/**
 * Limits a batch to the number of blobs that the rate allows in this time, seconds, so that a low
 * rate stays low.
 */
const BATCH_SECONDS = 10;

export interface BlobDeleterOptions {
  readonly blobs: Pick<BlobStore, "deleteAll">;
  /** Maximum of listed blobs that are deleted per second. */
  readonly blobsPerSecond: number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Resolves when a request may begin; blobs of more deletions arrive meanwhile. */
  readonly gather: () => Promise<void>;
  /** Called with the number of listed blobs of each batch. */
  readonly onBatch: (blobs: number) => void;
}

/** Blobs of one execution. */
export interface BlobChunk {
  readonly listed: readonly string[];
  /** URIs at which blobs may exist; they were not listed, and do not count. */
  readonly possible: readonly string[];
}

/** Deletes blobs of concurrent deletions in common requests, at most so many per second. */
export class BlobDeleter {
  /** Maximum of listed blobs in a chunk. */
  readonly maxChunk: number;
  readonly #batches: BatchQueue<BlobChunk>;

  constructor({ blobs, blobsPerSecond, sleep, gather, onBatch }: BlobDeleterOptions) {
    this.maxChunk = Math.min(MAX_BATCH, Math.max(1, Math.floor(blobsPerSecond * BATCH_SECONDS)));
    this.#batches = new BatchQueue({
      maxWeight: this.maxChunk,
      isItemError: () => true,
      gather,
      weightOf: ({ listed, possible }) => listed.length + possible.length,
      process: async (chunks) => {
        await blobs.deleteAll(chunks.flatMap(({ listed, possible }) => [...listed, ...possible]));
        const count = chunks.reduce((sum, { listed }) => sum + listed.length, 0);
        onBatch(count);
        await sleep((count / blobsPerSecond) * 1_000);
        return chunks.map(() => undefined);
      },
    });
  }

  /** Resolves when the blobs are deleted. A failure of other blobs in the request is not thrown. */
  delete(chunk: BlobChunk): Promise<void> {
    return this.#batches.run(chunk);
  }
}
