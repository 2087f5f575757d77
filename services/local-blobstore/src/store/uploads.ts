import { randomBytes } from "node:crypto";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { S3Error } from "../http/s3-error.js";
import { isMissing, openObject, type OpenObject } from "./object-file.js";
import { createDirDurably, type StagedUpload, syncDir } from "./staged-upload.js";

/** An incomplete multipart upload. */
export interface Upload {
  readonly id: string;
  readonly bucket: string;
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly metadata: Readonly<Record<string, string>>;
  readonly startedAt: string;
}

const UPLOAD_FILE_NAME = "upload.json";
export const MAX_PARTS = 10_000;
const ABANDONED_AFTER_MS = 7 * 24 * 3600_000;

/** Multipart uploads in a directory: a subdirectory each, a file per part. */
export class Uploads {
  constructor(
    private readonly folder: string,
    private readonly clock: () => Date,
  ) {}

  async start(of: Omit<Upload, "id" | "startedAt">): Promise<Upload> {
    const upload = { ...of, id: randomBytes(16).toString("hex"), startedAt: this.clock().toISOString() };
    const folder = this.#path(upload.id);
    await createDirDurably(folder);
    try {
      await writeFile(join(folder, UPLOAD_FILE_NAME), JSON.stringify(upload), { flush: true });
      await syncDir(folder);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    return upload;
  }

  /** @throws S3Error NoSuchUpload, also when it belongs to another key. */
  async get(id: string, of: { readonly bucket: string; readonly key: string }): Promise<Upload> {
    const upload = /^[0-9a-f]{32}$/.test(id) ? await this.#read(id) : undefined;
    if (upload?.bucket !== of.bucket || upload.key !== of.key) throw new S3Error("NoSuchUpload");
    return upload;
  }

  /** Lists incomplete uploads of a bucket by key. */
  async list(bucket: string): Promise<Upload[]> {
    const uploads = await Promise.all((await readdir(this.folder)).map((id) => this.#read(id)));
    return uploads.filter((upload) => upload?.bucket === bucket).toSorted((a, b) => ((a?.key ?? "") < (b?.key ?? "") ? -1 : 1)) as Upload[];
  }

  /** Stores a part, replacing an earlier one with the same number. */
  async putPart({ id }: Upload, part: { readonly number: number; readonly stage: StagedUpload; readonly etag: string }): Promise<void> {
    await part.stage.finish({ etag: part.etag, headers: {}, metadata: {} });
    const folder = this.#path(id);
    try {
      // moveTo would recreate the directory of an upload that was aborted meanwhile.
      await stat(folder);
    } catch (error) {
      if (isMissing(error)) throw new S3Error("NoSuchUpload");
      throw error;
    }
    await part.stage.moveTo(join(folder, String(part.number)));
  }

  /** Undefined when the part does not exist. */
  openPart({ id }: Upload, number: number): Promise<OpenObject | undefined> {
    return openObject(join(this.#path(id), String(number)));
  }

  async partNumbers({ id }: Upload): Promise<number[]> {
    const names = await readdir(this.#path(id));
    return names
      .map(Number)
      .filter(Number.isInteger)
      .toSorted((a, b) => a - b);
  }

  async remove({ id }: Upload): Promise<void> {
    await rm(this.#path(id), { recursive: true, force: true });
  }

  /** Removes uploads without activity for a week. */
  async removeAbandoned(): Promise<void> {
    for (const id of await readdir(this.folder)) {
      const changed = (await stat(this.#path(id))).mtimeMs;
      if (this.clock().getTime() - changed > ABANDONED_AFTER_MS) await rm(this.#path(id), { recursive: true, force: true });
    }
  }

  async #read(id: string): Promise<Upload | undefined> {
    try {
      return JSON.parse(await readFile(join(this.#path(id), UPLOAD_FILE_NAME), "utf8")) as Upload;
    } catch (error) {
      // A crash may have left the directory without the file, or an empty file.
      if (isMissing(error) || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #path(id: string): string {
    return join(this.folder, id);
  }
}
