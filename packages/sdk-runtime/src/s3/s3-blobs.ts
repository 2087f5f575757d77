import { type BlobAccess, BlobFailure, type ByteRange, checkSize, collect, type ListedBlob } from "../blob/blob-access.js";
import type { HttpAnswer } from "../blob/http-exchange.js";
import { responsePieces } from "../blob/response-pieces.js";
import { rangeHeaders } from "../blob/web-blobs.js";
import { isTransient } from "../blob/with-retries.js";
import { uploadPieces } from "./multipart.js";
import { createS3Client, type S3Client } from "./s3-client.js";
import { parseS3Uri } from "./s3-endpoint.js";
import { elements, elementText } from "./xml.js";

/** How often a stream is continued after an interruption without a new piece. */
const MAX_RESUMES = 4;

/** Opens blobs at `s3://bucket/key`. */
export function openS3(environment: Readonly<Record<string, string | undefined>>): BlobAccess {
  let opened: S3Client | undefined;
  const clientOf = (): S3Client => (opened ??= createS3Client(environment));
  const client: S3Client = { send: (request) => clientOf().send(request), ask: (request) => clientOf().ask(request) };
  return {
    read: async (uri, { maxBytes }) => {
      const pieces = await openStream(client, uri, { onSize: (size) => checkSize(uri, size, maxBytes) });
      return pieces === undefined ? undefined : collect(uri, pieces, maxBytes);
    },
    stream: (uri, range = {}) => openStream(client, uri, { range }),
    write: async (uri, body) => {
      const answer = await client.ask({ method: "PUT", location: parseS3Uri(uri), body });
      if (answer === undefined) throw new BlobFailure(uri, "S3 answers 404 to a PUT", { transient: false });
    },
    writeStream: (uri, pieces) => uploadPieces(client, parseS3Uri(uri), pieces),
    size: async (uri) => {
      const response = await client.send({ method: "HEAD", location: parseS3Uri(uri) });
      return response === undefined ? undefined : Number(response.header("content-length"));
    },
    list: (prefix) => listObjects(client, prefix),
  };
}

interface StreamOptions {
  readonly range?: ByteRange;
  /** Receives the size of the answer before its first piece. */
  readonly onSize?: (bytes: number) => void;
}

async function openStream(
  client: S3Client,
  uri: string,
  { range = {}, onSize }: StreamOptions,
): Promise<AsyncIterable<Uint8Array> | undefined> {
  const location = parseS3Uri(uri);
  if (range.length === 0) return (await client.send({ method: "HEAD", location })) === undefined ? undefined : emptyStream();
  const first = await client.send({ method: "GET", location, headers: rangeHeaders(range) });
  if (first === undefined) return undefined;
  const size = Number(first.header("content-length") ?? 0);
  try {
    onSize?.(size);
  } catch (error) {
    first.discard();
    throw error;
  }
  return resumedPieces(client, { uri, first, size, offset: range.offset ?? 0 });
}

async function* emptyStream(): AsyncIterable<Uint8Array> {}

interface OpenedStream {
  readonly uri: string;
  readonly first: HttpAnswer;
  /** Bytes of the part that is read. */
  readonly size: number;
  readonly offset: number;
}

/** Yields the pieces of an answer; continues an interrupted one where it ended. */
async function* resumedPieces(client: S3Client, { uri, first, size, offset }: OpenedStream): AsyncIterable<Uint8Array> {
  const etag = first.header("etag");
  let response = first;
  let read = 0;
  for (let resumes = 0; ; resumes++) {
    try {
      for await (const piece of responsePieces(uri, response.pieces)) {
        read += piece.length;
        resumes = 0;
        yield piece;
      }
      return;
    } catch (error) {
      if (!isTransient(error) || resumes >= MAX_RESUMES || etag === undefined || read >= size) throw error;
    }
    const headers = { ...rangeHeaders({ offset: offset + read, length: size - read }), "if-match": etag };
    const next = await client.send({ method: "GET", location: parseS3Uri(uri), headers });
    if (next === undefined) throw new BlobFailure(uri, "was deleted while it was read", { transient: false });
    response = next;
  }
}

async function* listObjects(client: S3Client, prefix: string): AsyncIterable<ListedBlob> {
  const { bucket, key } = parseS3Uri(prefix);
  const root = `${prefix.slice(0, prefix.indexOf(":"))}://${bucket}/`;
  let token: string | undefined;
  do {
    const query = {
      "encoding-type": "url",
      "list-type": "2",
      prefix: key,
      ...(token !== undefined && { "continuation-token": token }),
    };
    const answer = await client.ask({ method: "GET", location: { uri: prefix, bucket, key: "" }, query });
    if (answer === undefined) return;
    const page = answer.text;
    for (const entry of elements(page, "Contents")) {
      const name = decodeURIComponent((elementText(entry, "Key") ?? "").replaceAll("+", " "));
      yield { uri: `${root}${name}`, size: Number(elementText(entry, "Size")) };
    }
    token = elementText(page, "IsTruncated") === "true" ? elementText(page, "NextContinuationToken") : undefined;
  } while (token !== undefined);
}
