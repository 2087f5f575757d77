import { existsSync } from "node:fs";
import { mkdir, readdir, rename, rm, rmdir, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeyedMutex } from "@flyte-ts/async";
import { S3Error } from "../http/s3-error.js";
import { DirectoryCache } from "./directory-cache.js";
import { HASHED_KEYS_DIR, type KeyPath, keyPath, type NameRules } from "./key-path.js";
import { isMissing, type ObjectInfo, openObject, type OpenObject } from "./object-file.js";
import { createDirDurably, StagedUpload, syncDir } from "./staged-upload.js";
import { type ListEntry, listKeys } from "./list-keys.js";

const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const MAX_KEY_BYTES = 1024;

/** Conditions of a write; a failed one causes PreconditionFailed. */
export interface WriteConditions {
  /** Write only when no object exists. */
  readonly ifNoneMatch?: boolean | undefined;
  /** Write only over an object with this ETag; `*` matches any. */
  readonly ifMatch?: string | undefined;
}

export interface ListOptions {
  readonly prefix: string;
  readonly after: string;
  readonly skip: string;
  readonly delimiter: string;
}

/**
 * Buckets and objects in a directory. A write is durable before it is acknowledged, and atomic with
 * respect to crashes. One process at a time may use a directory.
 */
export class Store {
  readonly #root: string;
  readonly #rules: NameRules;
  readonly #buckets: Set<string>;
  /** Buckets that may have keys which do not fit into file names. */
  readonly #hashed: Set<string>;
  readonly #directories = new DirectoryCache();
  readonly #mutex = new KeyedMutex();

  private constructor(root: string, options: { readonly rules: NameRules; readonly buckets: Set<string>; readonly hashed: Set<string> }) {
    this.#root = root;
    this.#rules = options.rules;
    this.#buckets = options.buckets;
    this.#hashed = options.hashed;
  }

  /** Opens the directory, creates missing parts and removes incomplete writes of a crash. */
  static async open(root: string): Promise<Store> {
    for (const name of ["buckets", "uploads"]) await createDirDurably(join(root, name));
    await rm(join(root, "tmp"), { recursive: true, force: true });
    await createDirDurably(join(root, "tmp"));
    const buckets = new Set((await readdir(join(root, "buckets"))).filter((name) => BUCKET_NAME.test(name)));
    const hashed = new Set([...buckets].filter((bucket) => existsSync(join(root, "buckets", bucket, HASHED_KEYS_DIR))));
    return new Store(root, { rules: { foldsCase: await isCaseInsensitive(join(root, "tmp")) }, buckets, hashed });
  }

  /** Directory of staged uploads, which is emptied when the store is opened. */
  get temporaryFolder(): string {
    return join(this.#root, "tmp");
  }

  get uploadsFolder(): string {
    return join(this.#root, "uploads");
  }

  async buckets(): Promise<{ name: string; createdAt: Date }[]> {
    const names = [...this.#buckets].toSorted();
    return Promise.all(names.map(async (name) => ({ name, createdAt: (await stat(this.#bucketFolder(name))).birthtime })));
  }

  /** @throws S3Error NoSuchBucket. */
  requireBucket(bucket: string): void {
    if (!this.#buckets.has(bucket)) throw new S3Error(BUCKET_NAME.test(bucket) ? "NoSuchBucket" : "InvalidBucketName");
  }

  /** @returns false when it exists already. @throws S3Error InvalidBucketName. */
  async createBucket(bucket: string): Promise<boolean> {
    if (!BUCKET_NAME.test(bucket) || bucket.includes("..")) throw new S3Error("InvalidBucketName");
    if (this.#buckets.has(bucket)) return false;
    await createDirDurably(this.#bucketFolder(bucket));
    this.#buckets.add(bucket);
    return true;
  }

  /** @throws S3Error BucketNotEmpty, NoSuchBucket. */
  async deleteBucket(bucket: string): Promise<void> {
    for await (const _any of this.list(bucket, { prefix: "", after: "", skip: "", delimiter: "" })) throw new S3Error("BucketNotEmpty");
    this.#buckets.delete(bucket);
    // Moves the bucket away first, so that a crash leaves no partial bucket.
    await rename(this.#bucketFolder(bucket), join(this.temporaryFolder, bucket));
    await syncDir(join(this.#root, "buckets"));
    await rm(join(this.temporaryFolder, bucket), { recursive: true, force: true });
  }

  /** @throws S3Error NoSuchKey, NoSuchBucket. */
  async open(bucket: string, key: string): Promise<OpenObject> {
    const object = await openObject(this.#path(bucket, key));
    if (object === undefined) throw new S3Error("NoSuchKey");
    return object;
  }

  stageUpload(): StagedUpload {
    return new StagedUpload(this.temporaryFolder);
  }

  /**
   * Commits a staged upload under the key.
   *
   * @throws S3Error PreconditionFailed, NoSuchKey, KeyTooLongError.
   */
  async commit(
    target: { readonly bucket: string; readonly key: string },
    upload: { stageUpload: StagedUpload; info: ObjectInfo; conditions: WriteConditions },
  ): Promise<void> {
    const { bucket, key } = target;
    const path = this.#path(bucket, key);
    const hashed = keyPath(key, this.#rules).hashed;
    if (hashed) this.#hashed.add(bucket);
    await upload.stageUpload.finish(hashed ? { ...upload.info, key } : upload.info);
    await this.#mutex.run(path, async () => {
      await this.#checkConditions(path, upload.conditions);
      await upload.stageUpload.moveTo(path);
    });
  }

  /** Deletes an object; a missing one is no error. */
  async delete(bucket: string, key: string): Promise<void> {
    const path = this.#path(bucket, key);
    await this.#mutex.run(path, () => unlink(path).catch(ignoreMissing));
    await this.#removeEmptyDirs(dirname(path), this.#bucketFolder(bucket));
  }

  list(bucket: string, options: ListOptions): AsyncGenerator<ListEntry> {
    this.requireBucket(bucket);
    return listKeys({
      ...options,
      folder: this.#bucketFolder(bucket),
      entries: this.#directories,
      rules: this.#rules,
      hashed: this.#hashed.has(bucket),
    });
  }

  async #checkConditions(path: string, { ifMatch, ifNoneMatch }: WriteConditions): Promise<void> {
    if (ifMatch === undefined && ifNoneMatch !== true) return;
    await using object = await openObject(path);
    if (ifNoneMatch === true && object !== undefined) throw new S3Error("PreconditionFailed");
    if (ifMatch === undefined) return;
    if (object === undefined) throw new S3Error("NoSuchKey");
    if (!matchesEtag(ifMatch, object.info.etag)) throw new S3Error("PreconditionFailed");
  }

  /** Removes empty parent directories. */
  async #removeEmptyDirs(folder: string, top: string): Promise<void> {
    for (let path = folder; path.startsWith(`${top}/`); path = dirname(path)) {
      try {
        await rmdir(path);
      } catch {
        return;
      }
    }
  }

  #bucketFolder(bucket: string): string {
    return join(this.#root, "buckets", bucket);
  }

  #path(bucket: string, key: string): string {
    this.requireBucket(bucket);
    if (Buffer.byteLength(key) > MAX_KEY_BYTES) throw new S3Error("KeyTooLongError");
    const { folders, file }: KeyPath = keyPath(key, this.#rules);
    return join(this.#bucketFolder(bucket), ...folders, file);
  }
}

/** True when a condition header (`*` or comma-separated ETags) matches an ETag. */
export function matchesEtag(header: string, etag: string): boolean {
  return header.split(",").some((item) => {
    const text = item.trim().replace(/^W\//, "").replaceAll('"', "");
    return text === "*" || text === etag;
  });
}

async function isCaseInsensitive(folder: string): Promise<boolean> {
  await mkdir(folder, { recursive: true });
  const probe = join(folder, "case-probe");
  await writeFile(probe, "");
  try {
    await stat(join(folder, "CASE-PROBE"));
    return true;
  } catch {
    return false;
  } finally {
    await rm(probe, { force: true });
  }
}

function ignoreMissing(error: unknown): void {
  if (!isMissing(error)) throw error;
}
