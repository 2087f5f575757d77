import { forEachConcurrent } from "@flyte-ts/async";
import type { BlobAddress } from "./address.js";

/** Maximum number of concurrent requests. */
const AT_ONCE = 50;

/** Deletes blobs one per request, for stores without batch deletes. */
export async function deleteEach(
  driver: { delete(address: BlobAddress): Promise<void> },
  addresses: readonly BlobAddress[],
): Promise<void> {
  await forEachConcurrent(addresses, AT_ONCE, (address) => driver.delete(address));
}
