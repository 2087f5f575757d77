import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import type { BlobStore } from "@flyte-ts/blobstore";
import { type BlobAccess, BlobFailure, type ByteRange } from "./blob-access.js";
import { writePieces } from "./write-pieces.js";

/**
 * Blobs at `gs://` and `abfs://`, by the SDKs of these clouds. They are loaded with the first
 * address that needs them: no other task pays for them.
 */
export function cloudBlobs(): BlobAccess {
  let loading: Promise<BlobStore> | undefined;
  const store = () => (loading ??= loadStore());
  const attempt = async <Result>(uri: string, call: (store: BlobStore) => Promise<Result>): Promise<Result> => {
    try {
      return await call(await store());
    } catch (cause) {
      throw failure(uri, cause);
    }
  };
  return {
    read: (uri, { maxBytes }) => attempt(uri, (blobs) => blobs.get(uri, { maxBytes })),
    stream: (uri, range = {}) => attempt(uri, (blobs) => streamThroughFile(blobs, uri, range)),
    write: (uri, bytes) => attempt(uri, async (blobs) => void (await blobs.put(uri, bytes))),
    writeStream: (uri, pieces) => {
      const write = (watched: AsyncIterable<Uint8Array>) =>
        withTemporaryFile(async (path) => {
          await pipeline(watched, createWriteStream(path));
          await (await store()).putFile(uri, path);
        });
      return writePieces(pieces, write, (cause) => failure(uri, cause));
    },
    size: (uri) => attempt(uri, async (blobs) => (await blobs.head(uri))?.size),
    list: async function* (prefix) {
      try {
        for await (const { uri, size } of (await store()).list(prefix)) yield { uri, size };
      } catch (cause) {
        throw failure(prefix, cause);
      }
    },
  };
}

function failure(uri: string, cause: unknown): BlobFailure {
  const transient = cause instanceof Error && cause.name === "BlobUnavailableError";
  return new BlobFailure(uri, (cause as Error).message, { transient, cause });
}

async function loadStore(): Promise<BlobStore> {
  const { createBlobStore } = await import("@flyte-ts/blobstore");
  return createBlobStore({ schemes: new Set(["gs", "abfs"]) });
}

/** Downloads a blob to a file, which is removed once it has been read. */
async function streamThroughFile(
  blobs: BlobStore,
  uri: string,
  { offset = 0, length }: ByteRange,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const folder = await mkdtemp(join(tmpdir(), "flyte-blob-"));
  const path = join(folder, "content");
  if (!(await blobs.getFile(uri, path))) {
    await rm(folder, { recursive: true, force: true });
    return undefined;
  }
  return (async function* () {
    try {
      if (length !== 0) yield* createReadStream(path, { start: offset, ...(length !== undefined && { end: offset + length - 1 }) });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  })();
}

async function withTemporaryFile(use: (path: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "flyte-blob-"));
  try {
    await use(join(folder, "content"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
