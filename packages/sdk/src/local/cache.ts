import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { createHash, randomUUID } from "node:crypto";
import { join } from "node:path";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { CacheStore } from "./options.js";

/** Keeps outputs for one run. */
export class MemoryCache implements CacheStore {
  private readonly entries = new Map<string, LiteralMap>();

  get(key: string): Promise<LiteralMap | undefined> {
    return Promise.resolve(this.entries.get(key));
  }

  set(key: string, outputs: LiteralMap): Promise<void> {
    this.entries.set(key, outputs);
    return Promise.resolve();
  }
}

/** Keeps outputs in a folder, for further runs. */
export class FolderCache implements CacheStore {
  constructor(private readonly folder: string) {}

  async get(key: string): Promise<LiteralMap | undefined> {
    try {
      return fromBinary(LiteralMapSchema, await readFile(this.path(key)));
    } catch {
      // A damaged entry is replaced when its task has run again.
      return undefined;
    }
  }

  async set(key: string, outputs: LiteralMap): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    const written = `${this.path(key)}.${randomUUID()}`;
    await writeFile(written, toBinary(LiteralMapSchema, outputs));
    await rename(written, this.path(key));
  }

  private path(key: string): string {
    return join(this.folder, `${createHash("sha256").update(key).digest("hex")}.pb`);
  }
}
