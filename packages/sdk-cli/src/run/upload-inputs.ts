import { createHash, randomUUID } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative, sep } from "node:path";
import type { FlyteClient } from "@flyte-ts/client";
import type { Project } from "../project/project.js";
import { refusal, ServerError } from "../register/server.js";
import { UsageError } from "../usage-error.js";

/** Maximum size of a file that one request sends, bytes. */
const MAX_FILE_BYTES = 2 ** 31 - 1;

/** Folder of the blob store for the files of one execution's inputs. */
export class InputFolder {
  private constructor(
    private readonly client: FlyteClient,
    private readonly location: Pick<Project, "project" | "domain"> & { readonly filenameRoot: string },
    /** Address with a slash at its end. */
    readonly base: string,
  ) {}

  /** Asks the server for the address of a new folder. */
  static async open(client: FlyteClient, { project, domain }: Project): Promise<InputFolder> {
    const location = { project, domain, filenameRoot: randomUUID().replaceAll("-", "") };
    const { nativeUrl } = await client.dataProxy.createUploadLocation({ ...location, filename: "0" }).catch(refused);
    if (!nativeUrl.endsWith("/0")) throw new ServerError(`the server does not keep the names of files: ${nativeUrl}`);
    return new InputFolder(client, location, nativeUrl.slice(0, -1));
  }

  /** Sends all files of a local folder. */
  async upload(folder: string): Promise<void> {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      await this.#send(path, relative(folder, path).split(sep).join("/"));
    }
  }

  async #send(path: string, filename: string): Promise<void> {
    if (statSync(path).size > MAX_FILE_BYTES)
      throw new UsageError(`the input ${filename} has more than ${MAX_FILE_BYTES} bytes; give an address in the blob store`);
    const content = readFileSync(path);
    const contentMd5 = createHash("md5").update(content).digest();
    const request = { ...this.location, filename, contentMd5 };
    const { signedUrl, headers } = await this.client.dataProxy.createUploadLocation(request).catch(refused);
    const { "Content-Length": _, ...sent } = headers;
    const response = await fetch(signedUrl, { method: "PUT", headers: sent, body: content });
    const text = await response.text();
    if (!response.ok) throw new ServerError(`the blob store refuses ${filename} with status ${response.status}: ${text.slice(0, 500)}`);
  }
}

const refused = (error: unknown): never => {
  throw refusal("the inputs", error);
};
