import { mkdir, readdir, rename, rm, rmdir, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KeyedMutex } from "@flyte-ts/async";
import { S3Error } from "../http/s3-error.js";
import { FolderEntries } from "./folder-entries.js";
import { type KeyPath, keyPath, type NameRules } from "./key-path.js";
import { isMissing, type ObjectInfo, openObject, type OpenObject } from "./object-file.js";
import { makeFolder, Stage, syncFolder } from "./stage.js";
import { type Listed, walk } from "./walk.js";

const BUCKET_NAME = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const MAX_KEY_BYTES = 1024;

/** Conditions of a write on what is there; both refuse with PreconditionFailed. */
export interface WriteConditions {
  /** Only when nothing is there. */
  readonly ifNoneMatch?: boolean | undefined;
  /** Only over an object with this ETag, or `*` for any. */
  readonly ifMatch?: string | undefined;
}

export interface ListOptions {
  readonly prefix: string;
  readonly after: string;
  readonly skip: string;
  readonly delimiter: string;
}

/**
 * Buckets and objects in a folder. Every write is durable before it is told, and whole
 * or not there after a crash. One process may use a folder at a time.
 */
export class Store {
  readonly #root: string;
  readonly #rules: NameRules;
  readonly #buckets: Set<string>;
  readonly #entries = new FolderEntries();
  readonly #locks = new KeyedMutex();

  private constructor(root: string, options: { readonly rules: NameRules; readonly buckets: Set<string> }) {
    this.#root = root;
    this.#rules = options.rules;
    this.#buckets = options.buckets;
  }

  /** Opens the folder, makes what is missing and clears away what a crash left half done. */
  static async open(root: string): Promise<Store> {
    for (const name of ["buckets", "uploads"]) await makeFolder(join(root, name));
    await rm(join(root, "tmp"), { recursive: true, force: true });
    await makeFolder(join(root, "tmp"));
    const buckets = new Set((await readdir(join(root, "buckets"))).filter((name) => BUCKET_NAME.test(name)));
    return new Store(root, { rules: { foldsCase: await foldsCase(join(root, "tmp")) }, buckets });
  }

  /** Folder of what is on its way in, which is emptied when the store is opened. */
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

  /** @returns false when it is there already. @throws S3Error InvalidBucketName. */
  async createBucket(bucket: string): Promise<boolean> {
    if (!BUCKET_NAME.test(bucket) || bucket.includes("..")) throw new S3Error("InvalidBucketName");
    if (this.#buckets.has(bucket)) return false;
    await makeFolder(this.#bucketFolder(bucket));
    this.#buckets.add(bucket);
    return true;
  }

  /** @throws S3Error BucketNotEmpty, NoSuchBucket. */
  async deleteBucket(bucket: string): Promise<void> {
    for await (const _any of this.list(bucket, { prefix: "", after: "", skip: "", delimiter: "" })) throw new S3Error("BucketNotEmpty");
    this.#buckets.delete(bucket);
    // Out of the way first, so that a crash leaves no half of a bucket.
    await rename(this.#bucketFolder(bucket), join(this.temporaryFolder, bucket));
    await syncFolder(join(this.#root, "buckets"));
    await rm(join(this.temporaryFolder, bucket), { recursive: true, force: true });
  }

  /** @throws S3Error NoSuchKey, NoSuchBucket. */
  async open(bucket: string, key: string): Promise<OpenObject> {
    const object = await openObject(this.#path(bucket, key));
    if (object === undefined) throw new S3Error("NoSuchKey");
    return object;
  }

  stage(): Stage {
    return new Stage(this.temporaryFolder);
  }

  /** Puts what was staged under the key. @throws S3Error PreconditionFailed, NoSuchKey, KeyTooLongError. */
  async commit(
    target: { readonly bucket: string; readonly key: string },
    put: { stage: Stage; info: ObjectInfo; conditions: WriteConditions },
  ): Promise<void> {
    const { bucket, key } = target;
    const path = this.#path(bucket, key);
    const hashed = keyPath(key, this.#rules).hashed;
    await put.stage.finish(hashed ? { ...put.info, key } : put.info);
    await this.#locks.run(path, async () => {
      await this.#checkConditions(path, put.conditions);
      await put.stage.moveTo(path);
    });
  }

  /** A key that is not there is no error. */
  async delete(bucket: string, key: string): Promise<void> {
    const path = this.#path(bucket, key);
    await this.#locks.run(path, () => rm(path, { force: true }).catch(ignoreMissing));
    await this.#prune(dirname(path), this.#bucketFolder(bucket));
  }

  list(bucket: string, options: ListOptions): AsyncGenerator<Listed> {
    this.requireBucket(bucket);
    return walk({ ...options, folder: this.#bucketFolder(bucket), entries: this.#entries });
  }

  async #checkConditions(path: string, { ifMatch, ifNoneMatch }: WriteConditions): Promise<void> {
    if (ifMatch === undefined && ifNoneMatch !== true) return;
    await using object = await openObject(path);
    if (ifNoneMatch === true && object !== undefined) throw new S3Error("PreconditionFailed");
    if (ifMatch === undefined) return;
    if (object === undefined) throw new S3Error("NoSuchKey");
    if (!matchesEtag(ifMatch, object.info.etag)) throw new S3Error("PreconditionFailed");
  }

  /** Removes folders that have become empty. */
  async #prune(folder: string, top: string): Promise<void> {
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

/** Whether a condition header (`*` or ETags with commas between) names an ETag. */
export function matchesEtag(header: string, etag: string): boolean {
  return header.split(",").some((item) => {
    const text = item.trim().replace(/^W\//, "").replaceAll('"', "");
    return text === "*" || text === etag;
  });
}

async function foldsCase(folder: string): Promise<boolean> {
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
