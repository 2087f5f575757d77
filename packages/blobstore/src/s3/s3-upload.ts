import { type FileHandle, open } from "node:fs/promises";
import type * as Sdk from "@aws-sdk/client-s3";

interface Loaded {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
}

/** Smaller files are put at once. */
const PART_BYTES = 8 * 1024 * 1024;
/** S3 takes so many parts of one object. */
const MOST_PARTS = 10_000;
/** Parts in memory, and under way, at once. */
const PARTS_AT_ONCE = 2;

/** Puts a file of any size as one object, in parts where it is large. What was begun and failed is taken back. */
export async function uploadFile(
  { sdk, client }: Loaded,
  place: { readonly Bucket: string; readonly Key: string },
  path: string,
): Promise<void> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    if (size <= PART_BYTES) {
      const Body = new Uint8Array(size);
      await readPart(file, Body, 0);
      await client.send(new sdk.PutObjectCommand({ ...place, Body, ContentLength: Body.byteLength }));
      return;
    }
    const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(place));
    try {
      const Parts = await uploadParts(file, size, async (PartNumber, Body) => {
        const part = { ...place, UploadId, PartNumber, Body, ContentLength: Body.byteLength };
        const { ETag } = await client.send(new sdk.UploadPartCommand(part));
        return { PartNumber, ETag };
      });
      await client.send(new sdk.CompleteMultipartUploadCommand({ ...place, UploadId, MultipartUpload: { Parts } }));
    } catch (error) {
      // Parts that belong to nothing cost their owner money for ever. That they cannot be removed now is not what failed.
      await client.send(new sdk.AbortMultipartUploadCommand({ ...place, UploadId })).catch(() => undefined);
      throw error;
    }
  } finally {
    await file.close();
  }
}

async function uploadParts(
  file: FileHandle,
  size: number,
  upload: (number: number, bytes: Uint8Array) => Promise<Sdk.CompletedPart>,
): Promise<Sdk.CompletedPart[]> {
  const partBytes = Math.max(PART_BYTES, Math.ceil(size / MOST_PARTS));
  const count = Math.ceil(size / partBytes);
  const parts: Sdk.CompletedPart[] = [];
  let next = 0;
  let failed = false;
  const work = async () => {
    // One for all parts of a worker: what waits to be collected would add up.
    const memory = new Uint8Array(partBytes);
    while (next < count && !failed) {
      const index = next++;
      try {
        const start = index * partBytes;
        const bytes = memory.subarray(0, Math.min(partBytes, size - start));
        await readPart(file, bytes, start);
        parts[index] = await upload(index + 1, bytes);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(PARTS_AT_ONCE, count) }, work));
  for (const worker of workers) if (worker.status === "rejected") throw worker.reason;
  return parts;
}

/** Fills `bytes` from the place `start` of the file on. @throws Error when the file has become shorter meanwhile. */
async function readPart(file: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.byteLength - done, start + done);
    if (bytesRead === 0) throw new Error(`the file ended at byte ${start + done} while it was read`);
    done += bytesRead;
  }
}
