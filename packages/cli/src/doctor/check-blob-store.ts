import { randomUUID } from "node:crypto";
import { type BlobStore, createBlobStore } from "@flyte-ts/blobstore";
import type { DoctorConfig } from "./config.js";
import { type Finding, failed, rootCauseMessage, warning, passed } from "./finding.js";

const SUBJECT = "blob store";
const CONTENT = "flyte-ts doctor";

/** Remedies by URI scheme: the source of credentials and other requirements of a store. */
const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /^s3:/,
    "is the bucket there, are the keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY (or the pod's own) allowed this, is --s3 the service's address, do the clocks agree?",
  ],
  [
    /^gs:/,
    "is the bucket there, and has the account of GOOGLE_APPLICATION_CREDENTIALS (or the pod's own) the role Storage Object Admin on it?",
  ],
  [
    /^abfs/,
    "is the container there, is the account named (--azureAccount or AZURE_STORAGE_ACCOUNT_NAME), and is there its key (AZURE_STORAGE_ACCOUNT_KEY) or an identity with the role Storage Blob Data Contributor?",
  ],
  [/^file:/, "may this user write there?"],
];

const PRESIGNING_HINT =
  "clients upload and download by presigned URLs from admin: on GCS without a key file it needs the role Service Account Token Creator on its own account, on Azure without the account's key Storage Blob Delegator";

/** Writes, reads, signs and deletes a small blob. */
export async function checkBlobStore(
  prefix: string,
  { s3, region, gcs, azure, azureAccount, patience }: DoctorConfig,
): Promise<readonly Finding[]> {
  const store = createBlobStore({
    s3: { endpoint: s3, region },
    gcs: { endpoint: gcs, anonymous: gcs !== undefined },
    azure: { endpoint: azure, account: azureAccount },
  });
  const uri = store.join(prefix, `flyte-ts-doctor-${randomUUID()}`);
  let step = "writing";
  try {
    await store.put(uri, Buffer.from(CONTENT));
    step = "reading";
    const read = await store.get(uri);
    if (read === undefined || Buffer.from(read).toString() !== CONTENT) throw new Error("the blob that was written cannot be read");
    const presigning = await checkPresigning(store, uri, patience * 1_000);
    step = "deleting";
    await store.delete(uri);
    return [passed(SUBJECT, `${prefix} can be written, read and deleted from`), ...presigning];
  } catch (error) {
    const hint = HINTS.find(([scheme]) => scheme.test(prefix))?.[1] ?? "";
    return [failed(SUBJECT, `${step} below ${prefix}: ${rootCauseMessage(error)}`, hint)];
  } finally {
    store.close();
  }
}

/** Checks signed URLs. A failure is only a warning, because only admin signs URLs. */
async function checkPresigning(store: BlobStore, uri: string, timeoutMs: number): Promise<readonly Finding[]> {
  if (uri.startsWith("file:")) return [];
  try {
    const { url } = await store.presignGet(uri, { expiresInSeconds: 60 });
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
    if (!response.ok || (await response.text()) !== CONTENT) throw new Error(`a presigned URL returned status ${response.status}`);
    return [passed(SUBJECT, "presigned URLs work")];
  } catch (error) {
    return [warning(SUBJECT, `signing: ${rootCauseMessage(error)}`, PRESIGNING_HINT)];
  }
}
