import { type Backoff, forEachConcurrent, retry } from "@flyte-ts/async";
import type { BlobStore } from "@flyte-ts/blobstore";
import type { Logger } from "@flyte-ts/telemetry";
import {
  decodeSlice,
  encodeSlice,
  type LoadedSlice,
  MAX_SLICE_BYTES,
  sliceNotFound,
  type SliceReference,
} from "@flyte-ts/workflow-crd/status";
import type { ResourcePatch, SliceBlob } from "../../engine/types.js";
import { yieldToEventLoop } from "../yield-to-event-loop.js";

export interface SliceStoreOptions {
  readonly blobs: Pick<BlobStore, "get" | "put" | "deleteAll" | "list">;
  readonly logger: Logger;
  readonly sleep: (ms: number) => Promise<void>;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/** Maximum of concurrent requests per workflow. */
const CONCURRENT_WRITES = 16;
const CONCURRENT_READS = 32;
/** Delay in which deletions over all workflows are collected, ms: unused slices do no harm. */
const DELETION_DELAY_MS = 1_000;
/** Maximum of deletions in one request to stores with batch deletes. */
const DELETION_BATCH = 250;

/** Time of encoding and sending after which the event loop runs, ms. */
const MAX_BLOCKING_MS = 2;
const WRITE_RETRIES: Backoff = { initialMs: 50, maxMs: 10_000, jitter: 0.5 };

interface EncodedSlice {
  readonly uri: string;
  readonly bytes: Uint8Array;
}

/** Encodes slices as they are taken, and lets the event loop run in between. */
async function* encodeInTurns(slices: readonly SliceBlob[]): AsyncGenerator<EncodedSlice> {
  let blockingSince = performance.now();
  for (const { uri, entries } of slices) {
    yield { uri, bytes: encodeSlice(entries) };
    // Includes the time in which the consumer has sent the slice.
    if (performance.now() - blockingSince < MAX_BLOCKING_MS) continue;
    await yieldToEventLoop();
    blockingSince = performance.now();
  }
}

/** Status slices in the blob store. */
export class SliceStore {
  readonly #obsoleteUris: string[] = [];
  #isDeleting = false;

  constructor(private readonly options: SliceStoreOptions) {}

  /** @throws WorkflowFormatError for a missing or unreadable slice; other errors are transient. */
  async read(references: readonly SliceReference[]): Promise<readonly LoadedSlice[]> {
    const slices: LoadedSlice[] = [];
    await forEachConcurrent(references, CONCURRENT_READS, async ({ key, name, uri }) => {
      const bytes = await this.options.blobs.get(uri, { maxBytes: MAX_SLICE_BYTES });
      if (bytes === undefined) throw sliceNotFound(key, uri);
      slices.push({ key, name, entries: decodeSlice(bytes, key) });
    });
    return slices;
  }

  /**
   * Resolves to true when all slices are durable, to false when `mayWrite` returns false. Retries
   * failed writes with backoff: an outage of the blob store only delays the workflow.
   */
  async write(slices: readonly SliceBlob[], mayWrite: () => boolean): Promise<boolean> {
    await forEachConcurrent(encodeInTurns(slices), CONCURRENT_WRITES, (slice) => this.#put(slice, mayWrite));
    return mayWrite();
  }

  async #put({ uri, bytes }: EncodedSlice, mayWrite: () => boolean): Promise<void> {
    const { blobs, logger, sleep, random } = this.options;
    const putIfWanted = async () => {
      if (mayWrite()) await blobs.put(uri, bytes);
    };
    const onRetry = (error: unknown) => logger.warn({ uri, error: String(error) }, "slice of a status could not be written; retrying");
    await retry(putIfWanted, { ...WRITE_RETRIES, random, onRetry }, { sleep, elapsed: () => 0 });
  }

  /**
   * Deletes slices that the durable patch made obsolete, in the background. Remaining ones do no
   * harm.
   */
  deleteObsolete({ obsoleteSlices = [], deleteOtherSlices }: Pick<ResourcePatch, "obsoleteSlices" | "deleteOtherSlices">): void {
    if (deleteOtherSlices !== undefined) void this.deleteAllExcept(deleteOtherSlices);
    else this.#enqueueDeletions(obsoleteSlices);
  }

  /** Deletes all slices below the prefix except `keep`. Resolves when they are listed. */
  async deleteAllExcept({ prefix, keep }: NonNullable<ResourcePatch["deleteOtherSlices"]>): Promise<void> {
    const kept = new Set(keep);
    const found: string[] = [];
    try {
      for await (const { uri } of this.options.blobs.list(`${prefix}/`))
        if (!kept.has(uri) && isDirectlyBelow(prefix, uri)) found.push(uri);
    } catch (error) {
      this.options.logger.warn({ prefix, error: String(error) }, "old slices could not be listed; they are kept");
    }
    this.#enqueueDeletions(found);
  }

  #enqueueDeletions(uris: readonly string[]): void {
    for (const uri of uris) this.#obsoleteUris.push(uri);
    if (this.#isDeleting || this.#obsoleteUris.length === 0) return;
    this.#isDeleting = true;
    void this.#deleteInBatches();
  }

  /**
   * Deletes until no slice is obsolete. A request for many slices costs this process little more
   * than one for a single slice.
   */
  async #deleteInBatches(): Promise<void> {
    while (this.#obsoleteUris.length > 0) {
      if (this.#obsoleteUris.length < DELETION_BATCH) await this.options.sleep(DELETION_DELAY_MS);
      const uris = this.#obsoleteUris.splice(0, DELETION_BATCH);
      try {
        await this.options.blobs.deleteAll(uris);
      } catch (error) {
        this.options.logger.debug({ slices: uris.length, error: String(error) }, "old slices could not be deleted; they are kept");
      }
    }
    this.#isDeleting = false;
  }
}

/** Data of a node with the prefix's last segment as id are one level deeper. */
function isDirectlyBelow(prefix: string, uri: string): boolean {
  return !uri.slice(prefix.length + 1).includes("/");
}
