import type { BlobStore } from "@flyte-ts/blobstore";
import { type HiveJob, hiveJob } from "./hive-job.js";

export type RecordStore = Pick<BlobStore, "get" | "put" | "delete">;

const MAX_RECORD_BYTES = 4 * 1024;

/**
 * Record of the session and the statement of an attempt in the blob store, written before and after
 * a statement is started. Unlike the plugin state it is also there for a repeated request that was
 * sent before it. @throws BlobUnavailableError
 */
export class SessionRecord {
  constructor(
    private readonly store: RecordStore,
    private readonly outputPrefix: string,
  ) {}

  async write(job: HiveJob): Promise<void> {
    await this.store.put(this.#uri, Buffer.from(JSON.stringify(job)));
  }

  /** Undefined when no statement was started, and for a file that is no record. */
  async read(): Promise<HiveJob | undefined> {
    const bytes = await this.store.get(this.#uri, { maxBytes: MAX_RECORD_BYTES });
    return bytes === undefined ? undefined : hiveJob.safeParse(parsed(bytes)).data;
  }

  async delete(): Promise<void> {
    await this.store.delete(this.#uri);
  }

  get #uri(): string {
    return `${this.outputPrefix}/hive-session.json`;
  }
}

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString());
  } catch {
    return undefined;
  }
}
