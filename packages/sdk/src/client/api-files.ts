import { createHash, randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  CreateDownloadLocationResponseSchema,
  type CreateUploadLocationResponse,
  CreateUploadLocationRequestSchema,
  CreateUploadLocationResponseSchema,
} from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { type FlyteApi, jsonOf } from "../api/flyte-api.js";
import type { FileStore } from "../file/file.js";
import { readAll } from "../file/remote.js";

const PATH = "/api/v1/dataproxy/artifact_urn";

export interface FileScope {
  readonly project: string;
  readonly domain: string;
}

/** Files in the blob store of a server, by URLs that it signs. */
export class ApiFiles implements FileStore {
  readonly listsFolders = false;
  /** Folder of the files of one call. */
  readonly #root = randomUUID().replaceAll("-", "");
  #base = "";
  #count = 0;

  constructor(
    private readonly api: FlyteApi,
    private readonly scope: FileScope,
  ) {}

  /** Asks for the address of new files, which `allocate` needs. */
  async prepare(): Promise<void> {
    const { nativeUrl } = await this.#uploadLocation("0");
    if (!nativeUrl.endsWith("/0")) throw new Error(`the server does not keep the names of files: ${nativeUrl}`);
    this.#base = nativeUrl.slice(0, -1);
  }

  allocate(name = "file"): string {
    if (this.#base === "") throw new Error("files are written only after prepare()");
    return `${this.#base}${++this.#count}/${name}`;
  }

  async *read(uri: string): AsyncIterable<Uint8Array> {
    const response = await fetch(/^https?:/.test(uri) ? uri : await this.#downloadUrl(uri));
    if (!response.ok || response.body === null) throw new Error(`${uri} cannot be read: the blob store answers ${response.status}`);
    yield* response.body;
  }

  async write(uri: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    const body = Buffer.from(await readAll(content));
    const { signedUrl, headers } = await this.#uploadLocation(uri.slice(this.#base.length), createHash("md5").update(body).digest());
    const { "Content-Length": _, ...sent } = headers;
    const response = await fetch(signedUrl, { method: "PUT", headers: sent, body });
    const text = await response.text();
    if (!response.ok) throw new Error(`the blob store refuses ${uri} with status ${response.status}: ${text.slice(0, 500)}`);
  }

  list(uri: string): AsyncIterable<string> {
    throw new Error(`the API lists no folders; read the files of ${uri} with a client of the blob store`);
  }

  async scratch(name: string): Promise<string> {
    return join(await mkdtemp(join(tmpdir(), "flyte-ts-")), name);
  }

  #uploadLocation(filename: string, contentMd5?: Uint8Array): Promise<CreateUploadLocationResponse> {
    const request = { ...this.scope, filename, filenameRoot: this.#root, ...(contentMd5 && { contentMd5 }) };
    const body = jsonOf(CreateUploadLocationRequestSchema, request);
    return this.api.call(CreateUploadLocationResponseSchema, PATH, { method: "POST", body });
  }

  async #downloadUrl(uri: string): Promise<string> {
    const { signedUrl } = await this.api.call(CreateDownloadLocationResponseSchema, PATH, { query: { native_url: uri } });
    return signedUrl;
  }
}
