import type { BlobAddress } from "./address.js";

/** Maximum number of concurrent requests. */
const AT_ONCE = 50;

/** Deletes blobs one per request, for stores without batch deletes. */
export async function deleteEach(
  driver: { delete(address: BlobAddress): Promise<void> },
  addresses: readonly BlobAddress[],
): Promise<void> {
  for (let from = 0; from < addresses.length; from += AT_ONCE)
    await Promise.all(addresses.slice(from, from + AT_ONCE).map((address) => driver.delete(address)));
}
