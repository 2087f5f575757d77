import { createHash } from "node:crypto";
import { readBody, readTextBody } from "../body/read-body.js";
import { parameter } from "../http/request.js";
import { S3Error } from "../http/s3-error.js";
import { childText, parseXml, type XmlElement } from "../http/xml.js";
import { MAX_PARTS, type Upload } from "../store/uploads.js";
import { readRange } from "./conditions.js";
import { type OperationContext, quoted, sendEmpty, sendXml } from "./context.js";
import { storedHeaders } from "./object-headers.js";
import { copyContent, numberParameter, openCopySource, withStagedUpload, writeConditions } from "./write-object.js";

const MIN_PART_BYTES = 5 * 1024 * 1024;

/** CreateMultipartUpload. */
export async function createUpload(context: OperationContext): Promise<void> {
  const { request, store, uploads } = context;
  store.requireBucket(request.bucket);
  const { id } = await uploads.start({ bucket: request.bucket, key: request.key, ...storedHeaders(request) });
  sendXml(context, [
    "InitiateMultipartUploadResult",
    [
      ["Bucket", request.bucket],
      ["Key", request.key],
      ["UploadId", id],
    ],
  ]);
}

/** UploadPart. */
export async function uploadPart(context: OperationContext): Promise<void> {
  const { request, auth, uploads } = context;
  const number = numberParameter(request, "partNumber", { min: 1, max: MAX_PARTS });
  const upload = await findUpload(context);
  await withStagedUpload(context, async (staged) => {
    const { md5, checksums } = await readBody(request, auth, (piece) => staged.write(piece));
    await uploads.putPart(upload, { number, stage: staged, etag: md5 });
    sendEmpty(context, 200, { ...checksums, etag: quoted(md5) });
  });
}

/** UploadPartCopy. */
export async function copyPart(context: OperationContext): Promise<void> {
  const { request, uploads } = context;
  const number = numberParameter(request, "partNumber", { min: 1, max: MAX_PARTS });
  const upload = await findUpload(context);
  await using source = await openCopySource(context);
  const range = readRange(request.headers.get("x-amz-copy-source-range"), source.size);
  const md5 = createHash("md5");
  await withStagedUpload(context, async (staged) => {
    await copyContent(source, staged, { ...range, onPiece: (piece) => void md5.update(piece) });
    const etag = md5.digest("hex");
    await uploads.putPart(upload, { number, stage: staged, etag });
    sendXml(context, [
      "CopyPartResult",
      [
        ["LastModified", new Date().toISOString()],
        ["ETag", quoted(etag)],
      ],
    ]);
  });
}

/** CompleteMultipartUpload. Repeating a successful completion succeeds. */
export async function completeUpload(context: OperationContext): Promise<void> {
  const { request, auth, store, uploads } = context;
  const parts = parseParts(await readTextBody(request, auth, 4 * 1024 * 1024));
  const uploadId = parameter(request, "uploadId") ?? "";
  const upload = await findUpload(context).catch(async (error: unknown) => {
    const etag = await completedEtag(context, uploadId);
    if (etag === undefined) throw error;
    sendCompleted(context, etag);
    return undefined;
  });
  if (upload === undefined) return;
  await withStagedUpload(context, async (staged) => {
    const digests = createHash("md5");
    for (const [index, { number, etag }] of parts.entries()) {
      await using part = await uploads.openPart(upload, number);
      if (part === undefined || part.info.etag !== etag)
        throw new S3Error("InvalidPart", `part ${number} does not exist or has another ETag`);
      if (part.size < MIN_PART_BYTES && index < parts.length - 1)
        throw new S3Error("EntityTooSmall", `part ${number} has fewer than ${MIN_PART_BYTES} bytes`);
      digests.update(Buffer.from(part.info.etag, "hex"));
      await copyContent(part, staged);
    }
    const etag = `${digests.digest("hex")}-${parts.length}`;
    const info = { headers: upload.headers, metadata: upload.metadata, etag, uploadId };
    await store.commit(request, { stageUpload: staged, info, conditions: writeConditions(request) });
    await uploads.remove(upload);
    sendCompleted(context, etag);
  });
}

/** AbortMultipartUpload. */
export async function abortUpload(context: OperationContext): Promise<void> {
  await context.uploads.remove(await findUpload(context));
  sendEmpty(context, 204);
}

/** ListParts. */
export async function listParts(context: OperationContext): Promise<void> {
  const { request, uploads } = context;
  const upload = await findUpload(context);
  const after = numberParameter(request, "part-number-marker", { min: 0, max: MAX_PARTS, otherwise: 0 });
  const limit = Math.min(1000, numberParameter(request, "max-parts", { min: 0, max: MAX_PARTS, otherwise: 1000 }));
  const numbers = (await uploads.partNumbers(upload)).filter((number) => number > after);
  const elements: XmlElement[] = [];
  for (const number of numbers.slice(0, limit)) {
    await using part = await uploads.openPart(upload, number);
    if (part === undefined) continue;
    elements.push([
      "Part",
      [
        ["PartNumber", number],
        ["LastModified", part.modifiedAt.toISOString()],
        ["ETag", quoted(part.info.etag)],
        ["Size", part.size],
      ],
    ]);
  }
  sendXml(context, [
    "ListPartsResult",
    [
      ["Bucket", request.bucket],
      ["Key", request.key],
      ["UploadId", upload.id],
      ["PartNumberMarker", after],
      ["NextPartNumberMarker", numbers.slice(0, limit).at(-1) ?? 0],
      ["MaxParts", limit],
      ["IsTruncated", numbers.length > limit],
      ...elements,
    ],
  ]);
}

/** ListMultipartUploads, without paging. */
export async function listUploads(context: OperationContext): Promise<void> {
  const { request, store, uploads } = context;
  store.requireBucket(request.bucket);
  const prefix = parameter(request, "prefix") ?? "";
  const found = (await uploads.list(request.bucket)).filter((upload) => upload.key.startsWith(prefix));
  const elements = found.map(
    (upload): XmlElement => [
      "Upload",
      [
        ["Key", upload.key],
        ["UploadId", upload.id],
        ["Initiated", upload.startedAt],
      ],
    ],
  );
  sendXml(context, [
    "ListMultipartUploadsResult",
    [["Bucket", request.bucket], ["Prefix", prefix], ["MaxUploads", 1000], ["IsTruncated", false], ...elements],
  ]);
}

function findUpload({ request, uploads }: OperationContext): Promise<Upload> {
  return uploads.get(parameter(request, "uploadId") ?? "", request);
}

async function completedEtag({ request, store }: OperationContext, uploadId: string): Promise<string | undefined> {
  try {
    await using object = await store.open(request.bucket, request.key);
    return object.info.uploadId === uploadId ? object.info.etag : undefined;
  } catch (error) {
    if (error instanceof S3Error) return undefined;
    throw error;
  }
}

function sendCompleted(context: OperationContext, etag: string): void {
  const { bucket, key, headers } = context.request;
  const location = `http://${headers.get("host") ?? ""}/${bucket}/${key}`;
  sendXml(context, [
    "CompleteMultipartUploadResult",
    [
      ["Location", location],
      ["Bucket", bucket],
      ["Key", key],
      ["ETag", quoted(etag)],
    ],
  ]);
}

interface PartReference {
  readonly number: number;
  readonly etag: string;
}

function parseParts(xml: string): PartReference[] {
  const document = parseXml(xml);
  if (document?.name !== "CompleteMultipartUpload") throw new S3Error("MalformedXML");
  const parts = document.children
    .filter((child) => child.name === "Part")
    .map((part) => ({ number: Number(childText(part, "PartNumber")), etag: (childText(part, "ETag") ?? "").trim().replaceAll('"', "") }));
  if (parts.length === 0 || parts.length > MAX_PARTS || parts.some(({ number }) => !Number.isInteger(number)))
    throw new S3Error("MalformedXML");
  if (parts.some(({ number }, index) => index > 0 && number <= (parts[index - 1]?.number ?? 0))) throw new S3Error("InvalidPartOrder");
  return parts;
}
