import type { BlobLocation } from "./blob-uri.js";

/** Maximum number of concurrent requests. */
const DELETE_CONCURRENCY = 50;

/** Deletes blobs one per request, for stores without batch deletes. */
export async function deleteOneByOne(
  driver: { delete(location: BlobLocation): Promise<void> },
  locations: readonly BlobLocation[],
): Promise<void> {
  for (let from = 0; from < locations.length; from += DELETE_CONCURRENCY)
    await Promise.all(locations.slice(from, from + DELETE_CONCURRENCY).map((location) => driver.delete(location)));
}
