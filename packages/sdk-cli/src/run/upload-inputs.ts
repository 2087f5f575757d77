import { createHash, randomUUID } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import type { FlyteClient } from "@flyte-ts/client";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Project } from "../project/project.js";
import { ServerError } from "../register/server.js";
import { UsageError } from "../usage-error.js";

/** Maximum size of a file that one request sends, bytes. */
const MAX_FILE_BYTES = 2 ** 31 - 1;

/** Sends the local files among inputs to the blob store; changes their addresses. */
export async function uploadInputs(client: FlyteClient, project: Project, { literals }: LiteralMap): Promise<void> {
  const folder = randomUUID().replaceAll("-", "");
  for (const literal of Object.values(literals)) await uploadFiles(literal, (path) => upload(client, project, { path, folder }));
}

async function uploadFiles({ value }: Literal, send: (path: string) => Promise<string>): Promise<void> {
  switch (value.case) {
    case "collection":
      for (const item of value.value.literals) await uploadFiles(item, send);
      return;
    case "map":
      for (const item of Object.values(value.value.literals)) await uploadFiles(item, send);
      return;
    case "scalar": {
      const scalar = value.value.value;
      if (scalar.case === "union" && scalar.value.value !== undefined) await uploadFiles(scalar.value.value, send);
      if (scalar.case !== "blob" && scalar.case !== "structuredDataset") return;
      if (scalar.value.uri.startsWith("file://")) scalar.value.uri = await send(fileURLToPath(scalar.value.uri));
      return;
    }
    case "offloadedMetadata":
    case undefined:
      return;
  }
}

interface LocalFile {
  readonly path: string;
  /** Folder of the files of this run. */
  readonly folder: string;
}

async function upload(client: FlyteClient, { project, domain }: Project, { path, folder }: LocalFile): Promise<string> {
  const stats = statSync(path);
  if (!stats.isFile()) throw new UsageError(`the input ${path} is no file; give the address of a folder in the blob store`);
  if (stats.size > MAX_FILE_BYTES)
    throw new UsageError(`the input ${path} has more than ${MAX_FILE_BYTES} bytes; give an address in the blob store`);
  const content = readFileSync(path);
  const contentMd5 = createHash("md5").update(content).digest();
  const request = { project, domain, filename: basename(path), filenameRoot: `${folder}-${contentMd5.toString("hex")}`, contentMd5 };
  const { signedUrl, nativeUrl, headers } = await client.dataProxy.createUploadLocation(request);
  const { "Content-Length": _, ...sent } = headers;
  const response = await fetch(signedUrl, { method: "PUT", headers: sent, body: content });
  const text = await response.text();
  if (!response.ok) throw new ServerError(`the blob store refuses ${path} with status ${response.status}: ${text.slice(0, 500)}`);
  return nativeUrl;
}
