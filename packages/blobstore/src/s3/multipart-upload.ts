import { mapConcurrent } from "@flyte-ts/async";
import { type FileHandle, open } from "node:fs/promises";
import type * as Sdk from "@aws-sdk/client-s3";

interface Connection {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
}

/** Files below this size are put in one request. */
const PART_BYTES = 8 * 1024 * 1024;
/** Maximum number of parts of an object in S3. */
const MAX_PARTS = 10_000;
/** Number of parts in memory and in flight. */
const UPLOAD_CONCURRENCY = 2;

/**
 * Uploads a file of any size as one object, in parts when it is large. A failed upload is aborted.
 */
export async function uploadFile(
  { sdk, client }: Connection,
  target: { readonly Bucket: string; readonly Key: string },
  path: string,
): Promise<void> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    if (size <= PART_BYTES) {
      const Body = new Uint8Array(size);
      await readPart(file, Body, 0);
      await client.send(new sdk.PutObjectCommand({ ...target, Body, ContentLength: Body.byteLength }));
      return;
    }
    const { UploadId } = await client.send(new sdk.CreateMultipartUploadCommand(target));
    try {
      const Parts = await uploadParts(file, size, async (PartNumber, Body) => {
        const part = { ...target, UploadId, PartNumber, Body, ContentLength: Body.byteLength };
        const { ETag } = await client.send(new sdk.UploadPartCommand(part));
        return { PartNumber, ETag };
      });
      await client.send(new sdk.CompleteMultipartUploadCommand({ ...target, UploadId, MultipartUpload: { Parts } }));
    } catch (error) {
      // Abort the upload so that orphaned parts are not billed; ignore errors of the abort.
      await client.send(new sdk.AbortMultipartUploadCommand({ ...target, UploadId })).catch(() => undefined);
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
  const partBytes = Math.max(PART_BYTES, Math.ceil(size / MAX_PARTS));
  const count = Math.ceil(size / partBytes);
  // One buffer for each part in flight: garbage would add up.
  const buffers = Array.from({ length: Math.min(UPLOAD_CONCURRENCY, count) }, () => new Uint8Array(partBytes));
  return mapConcurrent(Array(count).keys(), UPLOAD_CONCURRENCY, async (index) => {
    const buffer = buffers.pop() as Uint8Array<ArrayBuffer>;
    const start = index * partBytes;
    const bytes = buffer.subarray(0, Math.min(partBytes, size - start));
    await readPart(file, bytes, start);
    const part = await upload(index + 1, bytes);
    buffers.push(buffer);
    return part;
  });
}

/**
 * Fills `bytes` from the file at `start`. @throws Error when the file has become shorter meanwhile.
 */
async function readPart(file: FileHandle, bytes: Uint8Array, start: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.byteLength - done, start + done);
    if (bytesRead === 0) throw new Error(`the file ended at byte ${start + done} while it was read`);
    done += bytesRead;
  }
}
