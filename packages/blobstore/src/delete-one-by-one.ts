import { forEachConcurrent } from "@flyte-ts/async";
import type { BlobLocation } from "./blob-uri.js";

/** Maximum number of concurrent requests. */
const DELETE_CONCURRENCY = 50;

/** Deletes blobs one per request, for stores without batch deletes. */
export async function deleteOneByOne(
  driver: { delete(location: BlobLocation): Promise<void> },
  locations: readonly BlobLocation[],
): Promise<void> {
  await forEachConcurrent(locations, DELETE_CONCURRENCY, (location) => driver.delete(location));
}
