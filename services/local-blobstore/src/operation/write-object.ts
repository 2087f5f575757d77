import { readBody } from "../body/read-body.js";
import { parameter, type S3Request } from "../http/request.js";
import { S3Error } from "../http/s3-error.js";
import type { OpenObject } from "../store/object-file.js";
import type { StagedUpload } from "../store/staged-upload.js";
import type { WriteConditions } from "../store/store.js";
import { checkRead } from "./conditions.js";
import { type OperationContext, quoted, sendEmpty, sendXml } from "./context.js";
import { storedHeaders } from "./object-headers.js";

/** PutObject. */
export async function putObject(context: OperationContext): Promise<void> {
  const { request, auth, store } = context;
  store.requireBucket(request.bucket);
  const conditions = writeConditions(request);
  const headers = storedHeaders(request);
  await withStagedUpload(context, async (staged) => {
    const { md5, checksums } = await readBody(request, auth, (piece) => staged.write(piece));
    await store.commit(request, { stageUpload: staged, info: { ...headers, etag: md5, checksums }, conditions });
    sendEmpty(context, 200, { ...checksums, etag: quoted(md5) });
  });
}

/** CopyObject. */
export async function copyObject(context: OperationContext): Promise<void> {
  const { request, store } = context;
  store.requireBucket(request.bucket);
  await using source = await openCopySource(context);
  const directive = request.headers.get("x-amz-metadata-directive")?.toUpperCase() ?? "COPY";
  if (directive !== "COPY" && directive !== "REPLACE")
    throw new S3Error("InvalidArgument", "x-amz-metadata-directive must be COPY or REPLACE");
  const headers = directive === "COPY" ? source.info : storedHeaders(request);
  await withStagedUpload(context, async (staged) => {
    await copyContent(source, staged);
    const { etag, checksums = {} } = source.info;
    const info = { headers: headers.headers, metadata: headers.metadata, etag, checksums };
    await store.commit(request, { stageUpload: staged, info, conditions: writeConditions(request) });
    sendXml(context, [
      "CopyObjectResult",
      [
        ["LastModified", new Date().toISOString()],
        ["ETag", quoted(etag)],
      ],
    ]);
  });
}

/** Runs `work` with a staged upload; discards it afterwards unless it was committed. */
export async function withStagedUpload(context: OperationContext, work: (staged: StagedUpload) => Promise<void>): Promise<void> {
  const staged = context.store.stageUpload();
  try {
    await work(staged);
  } finally {
    await staged.discard();
  }
}

/**
 * Opens the object named by `x-amz-copy-source`.
 *
 * @throws S3Error, also when its conditions fail.
 */
export async function openCopySource({ request, store }: OperationContext): Promise<OpenObject> {
  const header = request.headers.get("x-amz-copy-source") ?? "";
  const mark = header.indexOf("?");
  let path: string;
  try {
    path = decodeURIComponent(mark < 0 ? header : header.slice(0, mark)).replace(/^\//, "");
  } catch {
    throw new S3Error("InvalidArgument", "x-amz-copy-source must be percent-encoded UTF-8");
  }
  const slash = path.indexOf("/");
  if (slash < 1 || slash === path.length - 1) throw new S3Error("InvalidArgument", "x-amz-copy-source must be bucket/key");
  const object = await store.open(path.slice(0, slash), path.slice(slash + 1));
  try {
    const fresh = checkRead(request.headers, { etag: object.info.etag, modifiedAt: object.modifiedAt }, "x-amz-copy-source-");
    if (!fresh) throw new S3Error("PreconditionFailed");
    return object;
  } catch (error) {
    await object[Symbol.asyncDispose]();
    throw error;
  }
}

/** Appends the content of an object, or a range of it, to a staged upload. */
export async function copyContent(
  source: OpenObject,
  staged: StagedUpload,
  { start, end, onPiece: onData }: { readonly start?: number; readonly end?: number; readonly onPiece?: (data: Buffer) => void } = {},
): Promise<void> {
  const last = end ?? source.size - 1;
  const first = start ?? 0;
  if (last < first) return;
  for await (const data of source.handle.createReadStream({ start: first, end: last, autoClose: false, highWaterMark: 256 * 1024 })) {
    onData?.(data as Buffer);
    await staged.write(data as Buffer);
  }
}

/** @throws S3Error NotImplemented for an If-None-Match other than `*`, like S3. */
export function writeConditions({ headers }: S3Request): WriteConditions {
  const ifNoneMatch = headers.get("if-none-match");
  if (ifNoneMatch !== undefined && ifNoneMatch.trim() !== "*") throw new S3Error("NotImplemented", "If-None-Match of a write must be *");
  return { ifNoneMatch: ifNoneMatch !== undefined, ifMatch: headers.get("if-match") };
}

/** Parses an integer parameter. @throws S3Error InvalidArgument. */
export function numberParameter(
  request: S3Request,
  name: string,
  { min, max, otherwise }: { min: number; max: number; otherwise?: number },
): number {
  const text = parameter(request, name) ?? "";
  if (text === "" && otherwise !== undefined) return otherwise;
  const value = Number(text);
  if (text === "" || !Number.isInteger(value) || value < min || value > max)
    throw new S3Error("InvalidArgument", `${name} must be a whole number from ${min} to ${max}`);
  return value;
}
