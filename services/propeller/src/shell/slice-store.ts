import type { BlobStore } from "@flyte-ts/blobstore";
import type { Logger } from "@flyte-ts/telemetry";
import {
  decodeSlice,
  encodeSlice,
  type LoadedSlice,
  MAX_SLICE_BYTES,
  type SliceReference,
  sliceNotFound,
} from "@flyte-ts/workflow-crd/slices";
import type { SliceBlob } from "../engine/status/status-slices.js";
import type { ResourcePatch } from "../engine/types.js";
import { eachAtOnce } from "./each-at-once.js";

export interface SliceStoreOptions {
  readonly blobs: Pick<BlobStore, "get" | "put" | "delete" | "list">;
  readonly logger: Logger;
  readonly sleep: (ms: number) => Promise<unknown>;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}

/** Maximum of concurrent requests per workflow. */
const WRITES = 16;
const READS = 32;
/** Maximum of concurrent deletions over all workflows: unused slices do no harm. */
const REMOVALS = 4;

const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 10_000;

/** Status slices in the blob store. */
export class SliceStore {
  readonly #superfluous: string[] = [];
  #removing = 0;

  constructor(private readonly options: SliceStoreOptions) {}

  /** @throws WorkflowFormatError for a missing or unreadable slice; other errors are transient. */
  async read(references: readonly SliceReference[]): Promise<readonly LoadedSlice[]> {
    const slices: LoadedSlice[] = [];
    await eachAtOnce(references, READS, async ({ key, name, uri }) => {
      const bytes = await this.options.blobs.get(uri, { maxBytes: MAX_SLICE_BYTES });
      if (bytes === undefined) throw sliceNotFound(key, uri);
      slices.push({ key, name, entries: decodeSlice(bytes, key) });
    });
    return slices;
  }

  /**
   * Resolves to true when all slices are durable, to false when `wanted` is false. Retries failed writes with backoff:
   * an outage of the blob store only delays the workflow.
   */
  async write(slices: readonly SliceBlob[], wanted: () => boolean): Promise<boolean> {
    await eachAtOnce(slices, WRITES, (slice) => this.#put(slice, wanted));
    return wanted();
  }

  async #put({ uri, entries }: SliceBlob, wanted: () => boolean): Promise<void> {
    const { blobs, logger, sleep, random } = this.options;
    const bytes = encodeSlice(entries);
    for (let pause = FIRST_PAUSE_MS; wanted(); pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        await blobs.put(uri, bytes);
        return;
      } catch (error) {
        logger.warn({ uri, error: String(error) }, "slice of a status could not be written, trying again");
        await sleep(pause * (0.5 + random() / 2));
      }
    }
  }

  /** Deletes slices that the durable patch made obsolete, in the background. Remaining ones do no harm. */
  cleanUp({ unused = [], sweep }: Pick<ResourcePatch, "unused" | "sweep">): void {
    if (sweep !== undefined) void this.sweep(sweep);
    else this.#drop(unused);
  }

  /** Deletes all slices below the prefix except `keep`. Resolves when they are listed. */
  async sweep({ prefix, keep }: NonNullable<ResourcePatch["sweep"]>): Promise<void> {
    const kept = new Set(keep);
    const found: string[] = [];
    try {
      for await (const { uri } of this.options.blobs.list(`${prefix}/`))
        if (!kept.has(uri) && standsDirectlyBelow(prefix, uri)) found.push(uri);
    } catch (error) {
      this.options.logger.warn({ prefix, error: String(error) }, "old slices could not be listed, they stay");
    }
    this.#drop(found);
  }

  #drop(uris: readonly string[]): void {
    for (const uri of uris) this.#superfluous.push(uri);
    while (this.#removing < REMOVALS && this.#superfluous.length > 0) {
      this.#removing++;
      void this.#remove();
    }
  }

  async #remove(): Promise<void> {
    for (let uri = this.#superfluous.pop(); uri !== undefined; uri = this.#superfluous.pop()) {
      try {
        await this.options.blobs.delete(uri);
      } catch (error) {
        this.options.logger.debug({ uri, error: String(error) }, "old slice could not be removed, it stays");
      }
    }
    this.#removing--;
  }
}

/** Data of a node with the prefix's last segment as id are one level deeper. */
function standsDirectlyBelow(prefix: string, uri: string): boolean {
  return !uri.slice(prefix.length + 1).includes("/");
}
