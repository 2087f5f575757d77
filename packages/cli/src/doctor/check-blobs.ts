import { randomUUID } from "node:crypto";
import { createBlobStore } from "@flyte-ts/blobstore";
import { type Finding, ill, reasonOf, well } from "./finding.js";

const WHAT = "blob store";

/** Writes, reads and deletes a small blob. */
export async function checkBlobs(
  place: string,
  { endpoint, region }: { readonly endpoint: string | undefined; readonly region: string },
): Promise<readonly Finding[]> {
  const store = createBlobStore({ s3: { endpoint, region } });
  const uri = store.join(place, `flyte-ts-doctor-${randomUUID()}`);
  let step = "writing";
  try {
    await store.put(uri, Buffer.from("well"));
    step = "reading";
    const read = await store.get(uri);
    if (read === undefined || Buffer.from(read).toString() !== "well") throw new Error("what was written is not there");
    step = "deleting";
    await store.delete(uri);
    return [well(WHAT, `${place} can be written, read and deleted from`)];
  } catch (error) {
    return [
      ill(
        WHAT,
        `${step} below ${place}: ${reasonOf(error)}`,
        "is the bucket there, are the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or the pod's own) allowed this, is --s3 the service's address, do the clocks agree?",
      ),
    ];
  } finally {
    store.close();
  }
}
