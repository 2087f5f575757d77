import { createHash } from "node:crypto";
import type { FlyteClient } from "@flyte-ts/client";
import type { Archive } from "../bundling/archive.js";
import type { Project } from "../project/project.js";
import { refusal, ServerError } from "./server.js";

/** Digits of a digest that name a bundle's folder; the file is named by the whole. */
const FOLDER_DIGITS = 32;

/** Sends a bundle to the blob store by a URL that the server signs. Returns its address. */
export async function uploadBundle(client: FlyteClient, { project, domain }: Project, archive: Archive): Promise<string> {
  const contentMd5 = createHash("md5").update(archive.bytes).digest();
  const filename = `flyte-ts-${archive.digest}.tar.gz`;
  const filenameRoot = archive.digest.slice(0, FOLDER_DIGITS);
  const location = await client.dataProxy
    .createUploadLocation({ project, domain, filename, filenameRoot, contentMd5, addContentMd5Metadata: true })
    .catch((error: unknown) => Promise.reject(refusal("the bundle", error)));
  const { "Content-Length": _, ...headers } = location.headers;
  const response = await fetch(location.signedUrl, { method: "PUT", headers, body: Buffer.from(archive.bytes) });
  const text = await response.text();
  if (!response.ok) throw new ServerError(`the blob store refuses the bundle with status ${response.status}: ${text.slice(0, 500)}`);
  return location.nativeUrl;
}
