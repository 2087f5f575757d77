import type { BlobStore } from "@flyte-ts/blobstore";
import type { Database } from "@flyte-ts/postgres";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import type { DatacatalogConfig } from "./config.js";

/** Dependencies of the data catalog's RPCs; `main.ts` builds them once. */
export interface DatacatalogDeps {
  readonly config: DatacatalogConfig;
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly uuid: () => string;
}
