import type { BlobStore } from "@flyte-ts/blobstore";
import type { Bus } from "@flyte-ts/messaging";
import type { Database } from "@flyte-ts/postgres";
import type { Logger, Metrics } from "@flyte-ts/telemetry";
import type { PlatformConfig } from "./config.js";

/** Dependencies of this area and, since all areas may import it, of the others. */
export interface PlatformDeps {
  readonly config: PlatformConfig;
  readonly db: Database;
  readonly blobs: BlobStore;
  readonly bus: Bus;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly clock: () => Date;
  /** Environment variables to which the configuration refers for secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
}
