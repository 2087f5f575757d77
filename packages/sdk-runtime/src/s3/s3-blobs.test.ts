import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBlobs } from "../blob/open-blobs.js";
import type { BlobAccess } from "../blob/blob-access.js";
import { type ScriptedS3, scriptedS3 } from "./scripted-s3.fixture.js";

let server: ScriptedS3;
let blobs: BlobAccess;
const SECRET = "a secret that no message may contain";
const LIMIT = { maxBytes: 1_000 };

beforeEach(async () => {
  server = await scriptedS3();
  blobs = openBlobs({ FLYTE_AWS_ENDPOINT: server.url, FLYTE_AWS_ACCESS_KEY_ID: "minio", FLYTE_AWS_SECRET_ACCESS_KEY: SECRET });
});
afterEach(() => server.close());

const text = async (pieces: AsyncIterable<Uint8Array> | undefined): Promise<string> => {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces ?? []) parts.push(piece);
  return Buffer.concat(parts).toString();
};

test("a request is sent again after a failure of the server", async () => {
  server.answers = [
    (response) => response.writeHead(503).end("<Error><Code>SlowDown</Code></Error>"),
    (response) => response.destroy(),
    (response) => response.writeHead(400).end("<Error><Code>RequestTimeout</Code></Error>"),
    (response) => response.end("content"),
  ];
  expect(Buffer.from((await blobs.read("s3://bucket/key", LIMIT)) ?? []).toString()).toBe("content");
  expect(server.received.length).toBe(4);
});

test("a refusal is final, and its message has code and reason but no credentials", async () => {
  server.answers = [
    (response) => response.writeHead(403).end("<Error><Code>AccessDenied</Code><Message>not &lt;yours&gt;</Message></Error>"),
  ];
  const failure = await blobs.read("s3://bucket/key", LIMIT).catch((error: unknown) => error);
  expect(failure).toMatchObject({ transient: false, message: "s3://bucket/key: S3 answers 403 AccessDenied: not <yours>" });
  expect(server.received.length).toBe(1);
  expect(JSON.stringify(failure)).not.toContain(SECRET);
});

test("a missing object is no failure, a missing bucket is one", async () => {
  server.answers = [(response) => response.writeHead(404).end("<Error><Code>NoSuchKey</Code></Error>")];
  expect(await blobs.read("s3://bucket/key", LIMIT)).toBeUndefined();
  server.answers = [(response) => response.writeHead(404).end("<Error><Code>NoSuchBucket</Code></Error>")];
  await expect(blobs.read("s3://bucket/key", LIMIT)).rejects.toThrow("NoSuchBucket");
});

test("a large object is refused by its declared size", async () => {
  server.answers = [
    (response) => {
      response.writeHead(200, { "content-length": "1001" });
      response.write("x");
    },
  ];
  await expect(blobs.read("s3://bucket/key", LIMIT)).rejects.toThrow("has 1001 bytes, more than the 1000 that may be read");
});

test("an interrupted stream continues where it ended, and only with the same object", async () => {
  server.answers = [
    (response) => {
      response.writeHead(200, { "content-length": "10", etag: '"v1"' });
      response.write("01234", () => response.destroy());
    },
    (response) => response.writeHead(206, { "content-length": "5", etag: '"v1"' }).end("56789"),
  ];
  expect(await text(await blobs.stream("s3://bucket/key"))).toBe("0123456789");
  expect(server.received.at(-1)?.headers).toMatchObject({ range: "bytes=5-9", "if-match": '"v1"' });
});

test("a part of an object is asked for by its range", async () => {
  server.answers = [(response) => response.writeHead(206, { "content-length": "3" }).end("345")];
  expect(await text(await blobs.stream("s3://bucket/key", { offset: 3, length: 3 }))).toBe("345");
  expect(server.received[0]?.headers["range"]).toBe("bytes=3-5");
});

test("an upload in parts that fails is aborted", async () => {
  const begun = "<InitiateMultipartUploadResult><UploadId>upload&amp;1</UploadId></InitiateMultipartUploadResult>";
  const piece = Buffer.alloc(5 << 20);
  server.answers = [
    (response, { method, url }) => {
      if (method === "POST" && url.endsWith("?uploads=")) response.end(begun);
      else if (method === "PUT") response.writeHead(403).end("<Error><Code>QuotaExceeded</Code></Error>");
      else response.writeHead(204).end();
    },
  ];
  const pieces = (async function* () {
    for (let count = 0; count < 4; count++) yield piece;
  })();
  await expect(blobs.writeStream("s3://bucket/key", pieces)).rejects.toThrow("QuotaExceeded");
  expect(server.received.at(-1)).toMatchObject({ method: "DELETE", url: "/bucket/key?uploadId=upload%261" });
});

/** Ends the connection after a part of the answer's body. */
const brokenAnswer = (response: ServerResponse): void => {
  response.writeHead(200, { "content-length": "1000", etag: '"v1"' });
  response.write("<", () => response.destroy());
};

test("a page of a listing is asked for again when its answer is interrupted", async () => {
  server.answers = [
    brokenAnswer,
    (response) => response.end("<ListBucketResult><Contents><Key>a/b</Key><Size>3</Size></Contents></ListBucketResult>"),
  ];
  const found: unknown[] = [];
  for await (const { uri } of blobs.list("s3://bucket/a/")) found.push(uri);
  expect(found).toEqual(["s3://bucket/a/b"]);
});

test("an answer to a write that is always interrupted is a transient failure", async () => {
  server.answers = [brokenAnswer];
  const failure = { name: "BlobFailure", transient: true };
  await expect(blobs.write("s3://bucket/key", Buffer.from("x"))).rejects.toMatchObject(failure);
});

test("a part whose answer is interrupted is sent again", async () => {
  let sent = 0;
  server.answers = [
    (response, { method, url }) => {
      if (method === "POST" && url.endsWith("?uploads=")) response.end("<R><UploadId>1</UploadId></R>");
      else if (method === "PUT" && sent++ === 0) brokenAnswer(response);
      else response.writeHead(200, { etag: '"v1"' }).end();
    },
  ];
  const pieces = (async function* () {
    for (let count = 0; count < 3; count++) yield Buffer.alloc(4 << 20);
  })();
  await blobs.writeStream("s3://bucket/key", pieces);
  expect(sent).toBe(3);
});

test.each(["s3", "s3a"])("objects are listed by the scheme of their prefix: %s", async (scheme) => {
  const page = "<ListBucketResult><Contents><Key>a/b+c</Key><Size>3</Size></Contents></ListBucketResult>";
  server.answers = [(response) => response.end(page)];
  const found: unknown[] = [];
  for await (const entry of blobs.list(`${scheme}://bucket/a/`)) found.push(entry);
  expect(found).toEqual([{ uri: `${scheme}://bucket/a/b c`, size: 3 }]);
});

test("a key that a client of HTTP would change is refused", async () => {
  await expect(blobs.read("s3://bucket/a/../b", LIMIT)).rejects.toThrow("must not have . or ..");
  expect(server.received).toEqual([]);
});
