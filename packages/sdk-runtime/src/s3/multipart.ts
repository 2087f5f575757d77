import { BlobFailure } from "../blob/blob-access.js";
import type { S3Client } from "./s3-client.js";
import type { S3Location } from "./s3-endpoint.js";
import { elementText, escapeXml } from "./xml.js";

/** Size of the first parts, bytes; S3 requires 5 MiB of all but the last one. */
const PART_BYTES = 8 << 20;
/**
 * Parts after which their size doubles: 10,000 parts, the maximum of S3, hold 8 TiB, more than an
 * object may have.
 */
const PARTS_OF_ONE_SIZE = 1_000;
/** Parts that are sent at a time; each is kept in memory. */
const CONCURRENT_PARTS = 4;

/** Uploads pieces: in one request when they are small, else in parts. */
export async function uploadPieces(client: S3Client, location: S3Location, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const parts = partsOf(pieces);
  const first = await parts.next();
  const second = first.done === true ? first : await parts.next();
  if (second.done === true) {
    const body = first.done === true ? new Uint8Array() : first.value;
    await requireAnswer(client, { method: "PUT", location, body });
    return;
  }
  if (first.done === true) return;
  const started = await requireAnswer(client, { method: "POST", location, query: { uploads: "" } });
  const uploadId = elementText(started, "UploadId");
  if (uploadId === undefined) throw new BlobFailure(location.uri, "S3 began no upload", { transient: true });
  try {
    const etags = await sendParts({ client, location, uploadId }, prepend([first.value, second.value], parts));
    const body = Buffer.from(completion(etags));
    const answer = await requireAnswer(client, { method: "POST", location, query: { uploadId }, body });
    // S3 reports failures of this request with status 200.
    const code = elementText(answer, "Code");
    if (code !== undefined) throw new BlobFailure(location.uri, `S3 could not complete the upload: ${code}`, { transient: true });
  } catch (error) {
    await client.ask({ method: "DELETE", location, query: { uploadId } }).catch(() => undefined);
    throw error;
  }
}

interface Upload {
  readonly client: S3Client;
  readonly location: S3Location;
  readonly uploadId: string;
}

/** Sends parts, several at a time. Returns their etags in order. */
async function sendParts({ client, location, uploadId }: Upload, parts: AsyncIterable<Uint8Array>): Promise<string[]> {
  const etags: string[] = [];
  const sending = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;
  let number = 0;
  const send = async (body: Uint8Array, at: number): Promise<void> => {
    const query = { partNumber: String(at), uploadId };
    const answer = await client.ask({ method: "PUT", location, query, body });
    const etag = answer?.header("etag");
    if (etag === undefined) throw new BlobFailure(location.uri, "the upload was aborted", { transient: true });
    etags[at - 1] = etag;
  };
  for await (const body of parts) {
    number++;
    const sent = send(body, number).catch((error: unknown) => void (failure ??= { error }));
    sending.add(sent);
    void sent.finally(() => sending.delete(sent));
    if (sending.size >= CONCURRENT_PARTS) await Promise.race(sending);
    if (failure !== undefined) break;
  }
  await Promise.all(sending);
  if (failure !== undefined) throw failure.error;
  return etags;
}

/** Joins and divides pieces into parts of the sizes that S3 accepts. */
async function* partsOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = [];
  let size = 0;
  let count = 0;
  const limit = () => PART_BYTES * 2 ** Math.floor(count / PARTS_OF_ONE_SIZE);
  for await (const piece of pieces) {
    let rest = piece;
    while (size + rest.length >= limit()) {
      const taken = limit() - size;
      yield Buffer.concat([...pending, rest.subarray(0, taken)]);
      rest = rest.subarray(taken);
      pending = [];
      size = 0;
      count++;
    }
    if (rest.length === 0) continue;
    // Copies, because a source may reuse the memory of its pieces.
    pending.push(Buffer.from(rest));
    size += rest.length;
  }
  if (size > 0) yield Buffer.concat(pending);
}

async function* prepend(first: readonly Uint8Array[], rest: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  yield* first;
  yield* rest;
}

function completion(etags: readonly string[]): string {
  const parts = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`);
  return `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${parts.join("")}</CompleteMultipartUpload>`;
}

/** Sends a request that has an answer for every existing bucket and upload. Returns its text. */
async function requireAnswer(client: S3Client, request: Parameters<S3Client["send"]>[0]): Promise<string> {
  const answer = await client.ask(request);
  if (answer === undefined) throw new BlobFailure(request.location.uri, "S3 answers 404", { transient: false });
  return answer.text;
}
