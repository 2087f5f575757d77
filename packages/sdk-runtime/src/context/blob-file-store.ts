import { randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileStore } from "@flyte-ts/sdk/runtime";
import { type BlobAccess, BlobFailure } from "../blob/blob-access.js";
import { joinUri } from "../blob/join-uri.js";

/** Files of a task: new ones below the prefix of its attempt, existing ones anywhere. */
export class BlobFileStore implements FileStore {
  constructor(
    private readonly blobs: BlobAccess,
    private readonly prefix: string,
  ) {}

  allocate(name?: string): string {
    const folder = joinUri(this.prefix, randomUUID().replaceAll("-", ""));
    return name === undefined ? folder : joinUri(folder, name);
  }

  async *read(uri: string): AsyncIterable<Uint8Array> {
    const pieces = await this.blobs.stream(uri);
    if (pieces === undefined) throw new BlobFailure(uri, "does not exist", { transient: false });
    yield* pieces;
  }

  write(uri: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    return this.blobs.writeStream(uri, content);
  }

  async *list(uri: string): AsyncIterable<string> {
    for await (const entry of this.blobs.list(joinUri(uri, ""))) yield entry.uri;
  }

  async scratch(name: string): Promise<string> {
    return join(await mkdtemp(join(tmpdir(), "flyte-file-")), name);
  }
}
