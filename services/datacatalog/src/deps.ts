import type { BlobStore } from "@flyte-ts/blobstore";
import type { Database } from "@flyte-ts/postgres";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import type { DatacatalogConfig } from "./config.js";

/** What the slices of the data catalog are made of; `main.ts` builds it once. */
export interface DatacatalogDeps {
  readonly config: DatacatalogConfig;
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly uuid: () => string;
}
