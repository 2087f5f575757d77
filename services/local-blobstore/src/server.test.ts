import { createHash, createHmac, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { describe, afterAll, beforeAll, expect, test } from "vitest";
import { type ServerFixture, serverFixture, stop } from "./server.fixture.js";
import { sendRaw, send, sign, type TestRequest } from "./signed-request.fixture.js";

let server: ServerFixture;
const request = (of: TestRequest) => send(server.port, of);
const put = (key: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  request({ method: "PUT", path: `/bucket/${key}`, body: Buffer.from(body as string), headers });
const get = (key: string, headers: Record<string, string> = {}) => request({ method: "GET", path: `/bucket/${key}`, headers });
const codeOf = async (answer: Response) => [answer.status, /<Code>(\w+)<\/Code>/.exec(await answer.text())?.[1]];

beforeAll(async () => {
  server = await serverFixture();
});
afterAll(() => stop(server));

test("only health is served without a signature", async () => {
  const health = await fetch(`http://127.0.0.1:${server.port}/healthz`);
  expect([health.status, await health.text()]).toEqual([200, "ok\n"]);
  expect(await codeOf(await fetch(`http://127.0.0.1:${server.port}/bucket/x`))).toEqual([403, "AccessDenied"]);
});

test.each([
  ["another secret", { secretAccessKey: "some other secret" }, 403, "SignatureDoesNotMatch"],
  ["another key", { accessKeyId: "somebody" }, 403, "InvalidAccessKeyId"],
  ["a clock that is slow", { at: new Date(Date.now() - 16 * 60_000) }, 403, "RequestTimeTooSkewed"],
  ["a clock that is fast", { at: new Date(Date.now() + 16 * 60_000) }, 403, "RequestTimeTooSkewed"],
  ["a hash of other content", { payloadHash: "0".repeat(64) }, 400, "XAmzContentSHA256Mismatch"],
  ["an invalid hash", { payloadHash: "STREAMING-SOMETHING" }, 400, "InvalidRequest"],
  ["an MD5 of other content", { headers: { "content-md5": "AAAAAAAAAAAAAAAAAAAAAA==" } }, 400, "BadDigest"],
  ["an invalid MD5", { headers: { "content-md5": "AAAA" } }, 400, "InvalidDigest"],
  ["a checksum of other content", { headers: { "x-amz-checksum-crc32": "AAAAAA==" } }, 400, "BadDigest"],
  ["a condition on a missing object", { headers: { "if-match": '"x"' } }, 404, "NoSuchKey"],
  ["metadata without end", { headers: { "x-amz-meta-a": "x".repeat(9000) } }, 400, "MetadataTooLarge"],
] as [string, Partial<TestRequest>, number, string][])("a put with %s is refused and stores nothing", async (_name, of, status, code) => {
  expect(await codeOf(await request({ method: "PUT", path: "/bucket/refused", body: Buffer.from("body"), ...of }))).toEqual([status, code]);
  expect((await get("refused")).status).toBe(404);
});

test("a header added after signing is refused", async () => {
  const { headers } = sign({ method: "PUT", path: "/bucket/added" }, `127.0.0.1:${server.port}`);
  const { host: _host, ...rest } = headers;
  const answer = await fetch(`http://127.0.0.1:${server.port}/bucket/added`, {
    method: "PUT",
    headers: { ...rest, "x-amz-copy-source": "/bucket/x" },
  });
  expect(await codeOf(answer)).toEqual([403, "AccessDenied"]);
});

test("a signed header that is repeated is refused", async () => {
  const { headers } = sign({ method: "GET", path: "/bucket/k", headers: { "x-pad": "p".repeat(12_000) } }, `127.0.0.1:${server.port}`);
  // Without the check, the server would add the header's value to the text to be signed once per
  // name, before it rejects the signature.
  const authorization = (headers["authorization"] ?? "").replace("SignedHeaders=", `SignedHeaders=${"x-pad;".repeat(2_500)}`);
  const answer = await sendRaw(server.port, { method: "GET", path: "/bucket/k", headers: { ...headers, authorization } });
  expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining("SignedHeaders contains a duplicate")]);
});

test("keys that look like paths stay in the bucket", async () => {
  for (const key of ["../../../escaped", "..%2f..%2fescaped", "/etc/passwd", "./x", "a/../../b"]) {
    expect((await put(key, key)).status).toBe(200);
    expect(await (await get(key)).text()).toBe(key);
  }
  expect(existsSync(join(server.folder, "escaped")) || existsSync(join(server.folder, "..", "escaped"))).toBe(false);
});

test("a URL that is not UTF-8 is refused", async () => {
  const raw = await new Promise<string>((resolve) => {
    const socket = connect(server.port, "127.0.0.1", () =>
      socket.end("GET /bucket/%ff%fe HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"),
    );
    let text = "";
    socket.on("data", (piece) => (text += String(piece))).on("close", () => resolve(text));
  });
  expect(raw).toContain("<Code>InvalidURI</Code>");
});

test("a client that does not finish a refused request is disconnected", async () => {
  const raw = await new Promise<string>((resolve) => {
    const socket = connect(server.port, "127.0.0.1", () => {
      socket.write("PUT /bucket/slow HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000\r\n\r\nbegun");
    });
    let text = "";
    socket.on("data", (piece) => (text += String(piece))).on("error", () => undefined);
    socket.on("close", () => resolve(text));
  });
  expect(raw).toContain("<Code>AccessDenied</Code>");
});

test("range requests return parts of an object", async () => {
  const large = randomBytes(100_000);
  await put("range", "0123456789");
  await put("large", large);
  const part = async (header: string) => {
    const answer = await get("range", { range: header });
    return [answer.status, answer.headers.get("content-range"), await answer.text()];
  };
  expect(await part("bytes=2-4")).toEqual([206, "bytes 2-4/10", "234"]);
  expect(await part("bytes=7-")).toEqual([206, "bytes 7-9/10", "789"]);
  expect(await part("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
  expect(await part("bytes=0-99")).toEqual([206, "bytes 0-9/10", "0123456789"]);
  expect(await part("bytes=1-2,4-5")).toEqual([200, null, "0123456789"]);
  expect((await part("bytes=10-")).slice(0, 2)).toEqual([416, "bytes */10"]);
  const middle = await get("large", { range: "bytes=50000-79999" });
  expect(Buffer.from(await middle.arrayBuffer()).equals(large.subarray(50_000, 80_000))).toBe(true);
});

test("conditional reads and writes follow ETags and times", async () => {
  const etag = (await put("cond", "1")).headers.get("etag") ?? "";
  expect(etag).toBe(`"${createHash("md5").update("1").digest("hex")}"`);
  expect((await get("cond", { "if-none-match": etag })).status).toBe(304);
  expect((await get("cond", { "if-none-match": '"other"' })).status).toBe(200);
  expect((await get("cond", { "if-match": '"other"' })).status).toBe(412);
  expect((await get("cond", { "if-modified-since": new Date(Date.now() + 1000).toUTCString() })).status).toBe(304);
  expect((await get("cond", { "if-unmodified-since": new Date(0).toUTCString() })).status).toBe(412);
  expect((await put("cond", "2", { "if-none-match": "*" })).status).toBe(412);
  expect((await put("cond", "2", { "if-match": '"other"' })).status).toBe(412);
  expect((await put("cond", "2", { "if-match": etag })).status).toBe(200);
  expect(await (await get("cond")).text()).toBe("2");
});

test("headers and metadata are returned as stored, and signed reads may override them", async () => {
  await put("meta", "x", {
    "content-type": "text/html",
    "cache-control": "no-store",
    "x-amz-meta-a": "b",
    "content-encoding": "aws-chunked,gzip",
  });
  const head = await request({ method: "HEAD", path: "/bucket/meta" });
  expect(Object.fromEntries(head.headers)).toMatchObject({
    "content-type": "text/html",
    "cache-control": "no-store",
    "content-encoding": "gzip",
    "x-amz-meta-a": "b",
    "content-length": "1",
    "accept-ranges": "bytes",
  });
  const other = await request({
    method: "GET",
    path: "/bucket/meta",
    query: { "response-content-type": "text/plain", "response-content-encoding": "identity" },
  });
  expect(other.headers.get("content-type")).toBe("text/plain");
});

test.each(["attachment\r\nset-cookie: a=b", "a\0", "☃"])("a header that cannot be sent is a client error: %j", async (value) => {
  await put("override", "x");
  const answer = await request({ method: "GET", path: "/bucket/override", query: { "response-content-disposition": value } });
  expect(answer.status).toBe(400);
  expect(await answer.text()).toContain("response-content-disposition must not contain line breaks");
});

interface Chunked {
  readonly form: string;
  readonly body: Buffer;
  readonly chunkBytes?: number;
  readonly edit?: (framed: Buffer) => Buffer;
}

/** Uploads a body in aws-chunked form with signed chunks, as documented by S3. */
async function putChunked({ form, body, chunkBytes = 64 * 1024, edit = (framed) => framed }: Chunked): Promise<Response> {
  const trailer = form.endsWith("TRAILER");
  const headers = {
    "content-encoding": "aws-chunked",
    "x-amz-decoded-content-length": String(body.length),
    ...(trailer ? { "x-amz-trailer": "x-amz-checksum-crc32" } : {}),
  };
  const host = `127.0.0.1:${server.port}`;
  const signed = sign({ method: "PUT", path: "/bucket/chunked", headers, payloadHash: form }, host);
  const unsigned = form.includes("UNSIGNED");
  const hash = (data: Buffer | string) => createHash("sha256").update(data).digest("hex");
  const scope = `${signed.scope.day}/us-east-1/s3/aws4_request`;
  let previous = signed.signature;
  const chain = (kind: string, rest: string[]) => {
    previous = createHmac("sha256", signed.key)
      .update([kind, signed.time, scope, previous, ...rest].join("\n"))
      .digest("hex");
    return previous;
  };
  const pieces: (Buffer | string)[] = [];
  for (let at = 0; ; at += chunkBytes) {
    const piece = body.subarray(at, at + chunkBytes);
    const signature = unsigned ? "" : `;chunk-signature=${chain("AWS4-HMAC-SHA256-PAYLOAD", [hash(""), hash(piece)])}`;
    pieces.push(`${piece.length.toString(16)}${signature}\r\n`, piece, piece.length > 0 ? "\r\n" : "");
    if (piece.length === 0) break;
  }
  if (trailer) {
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    const line = `x-amz-checksum-crc32:${sum.toString("base64")}`;
    pieces.push(`${line}\r\n`);
    if (!unsigned) pieces.push(`x-amz-trailer-signature:${chain("AWS4-HMAC-SHA256-TRAILER", [hash(`${line}\n`)])}\r\n`);
  }
  pieces.push("\r\n");
  const framed = edit(Buffer.concat(pieces.map((piece) => Buffer.from(piece as string))));
  return sendRaw(server.port, { method: "PUT", path: "/bucket/chunked", headers: signed.headers, body: framed });
}

const forms = ["STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", "STREAMING-UNSIGNED-PAYLOAD-TRAILER"];

test.each(forms)("a body in the form of %s is stored completely", async (form) => {
  for (const [size, chunkBytes] of [
    [0, 100],
    [1, 100],
    [200_000, 65_536],
    [1_000, 7],
  ] as const) {
    const body = randomBytes(size);
    const answer = await putChunked({ form, body, chunkBytes });
    expect(answer.status).toBe(200);
    expect(Buffer.from(await (await get("chunked")).arrayBuffer()).equals(body)).toBe(true);
  }
});

test.each(forms)("a body in the form of %s that was changed or truncated in transit is refused", async (form) => {
  await put("chunked", "before");
  const body = randomBytes(150_000);
  const changed = (framed: Buffer) =>
    Buffer.concat([framed.subarray(0, 1000), Buffer.from([(framed[1000] ?? 0) ^ 1]), framed.subarray(1001)]);
  const refusals = [
    await codeOf(await putChunked({ form, body, edit: changed })),
    await codeOf(await putChunked({ form, body, edit: (framed) => framed.subarray(0, 100_000) })),
    await codeOf(await putChunked({ form, body, edit: (framed) => Buffer.concat([Buffer.from("zz\r\n"), framed]) })),
  ];
  expect(refusals.map(([status]) => status)).toEqual([form.includes("UNSIGNED") ? 400 : 403, 400, 400]);
  expect(await (await get("chunked")).text()).toBe("before");
});

test("a multipart upload becomes one object, completely or not at all, and its completion may be repeated", async () => {
  const path = "/bucket/multi é";
  const started = await (
    await request({ method: "POST", path, query: { uploads: "" }, headers: { "x-amz-meta-m": "1", "content-type": "a/b" } })
  ).text();
  const uploadId = /<UploadId>(\w+)</.exec(started)?.[1] ?? "";
  const parts = [randomBytes(5 * 1024 * 1024), randomBytes(5 * 1024 * 1024), randomBytes(10)];
  const etags: string[] = [];
  for (const [index, body] of parts.entries()) {
    const query = { partNumber: String(index + 1), uploadId };
    await request({ method: "PUT", path, query, body: randomBytes(3) });
    etags.push((await request({ method: "PUT", path, query, body })).headers.get("etag") ?? "");
  }
  expect((await get("multi é")).status).toBe(404);
  const listing = await (await request({ method: "GET", path, query: { uploadId } })).text();
  expect([...listing.matchAll(/<Size>(\d+)</g)].map((match) => Number(match[1]))).toEqual(parts.map((part) => part.length));
  expect(await (await request({ method: "GET", path: "/bucket", query: { uploads: "" } })).text()).toContain(uploadId);
  const complete = (numbers: readonly number[], names = etags) => {
    const xml = numbers.map((number) => `<Part><ETag>${names[number - 1]}</ETag><PartNumber>${number}</PartNumber></Part>`).join("");
    return request({
      method: "POST",
      path,
      query: { uploadId },
      body: Buffer.from(`<CompleteMultipartUpload>${xml}</CompleteMultipartUpload>`),
    });
  };
  expect(await codeOf(await complete([2, 1]))).toEqual([400, "InvalidPartOrder"]);
  expect(await codeOf(await complete([1, 2, 4]))).toEqual([400, "InvalidPart"]);
  expect(await codeOf(await complete([3, 4]))).toEqual([400, "EntityTooSmall"]);
  expect(await codeOf(await complete([1, 2, 3], ['"0"', '"0"', '"0"']))).toEqual([400, "InvalidPart"]);
  const digest = createHash("md5");
  for (const etag of etags) digest.update(Buffer.from(etag.replaceAll('"', ""), "hex"));
  const etag = `${digest.digest("hex")}-3`;
  expect(await (await complete([1, 2, 3])).text()).toContain(etag);
  expect(await (await complete([1, 2, 3])).text()).toContain(etag);
  const object = await get("multi é");
  expect(Object.fromEntries(object.headers)).toMatchObject({ etag: `"${etag}"`, "x-amz-meta-m": "1", "content-type": "a/b" });
  expect(Buffer.from(await object.arrayBuffer()).equals(Buffer.concat(parts))).toBe(true);
  expect(await codeOf(await request({ method: "PUT", path, query: { partNumber: "1", uploadId }, body: parts[0] as Buffer }))).toEqual([
    404,
    "NoSuchUpload",
  ]);
});

test("a multipart upload that was aborted, has another key or does not exist is reported as missing", async () => {
  const started = await (await request({ method: "POST", path: "/bucket/a", query: { uploads: "" } })).text();
  const uploadId = /<UploadId>(\w+)</.exec(started)?.[1] ?? "";
  expect(await codeOf(await request({ method: "GET", path: "/bucket/b", query: { uploadId } }))).toEqual([404, "NoSuchUpload"]);
  expect((await request({ method: "DELETE", path: "/bucket/a", query: { uploadId } })).status).toBe(204);
  for (const id of [uploadId, "../buckets", ""]) {
    expect(await codeOf(await request({ method: "GET", path: "/bucket/a", query: { uploadId: id } }))).toEqual([404, "NoSuchUpload"]);
  }
});

test("a copy has the content of its source, with its metadata or new ones", async () => {
  await put("from ü", "copied", { "x-amz-meta-a": "1" });
  const source = encodeURI("/bucket/from ü");
  expect((await request({ method: "PUT", path: "/bucket/to", headers: { "x-amz-copy-source": source } })).status).toBe(200);
  const kept = await get("to");
  expect([await kept.text(), kept.headers.get("x-amz-meta-a")]).toEqual(["copied", "1"]);
  const replace = { "x-amz-copy-source": source, "x-amz-metadata-directive": "REPLACE", "x-amz-meta-b": "2" };
  await request({ method: "PUT", path: "/bucket/from ü", headers: replace });
  const replaced = await get("from ü");
  expect([await replaced.text(), replaced.headers.get("x-amz-meta-a"), replaced.headers.get("x-amz-meta-b")]).toEqual([
    "copied",
    null,
    "2",
  ]);
  const refused = { "x-amz-copy-source": source, "x-amz-copy-source-if-match": '"no"' };
  expect((await request({ method: "PUT", path: "/bucket/to", headers: refused })).status).toBe(412);
  expect(await codeOf(await request({ method: "PUT", path: "/bucket/to", headers: { "x-amz-copy-source": "/bucket/none" } }))).toEqual([
    404,
    "NoSuchKey",
  ]);
});

test("many keys are deleted with one request", async () => {
  const keys = ["many/a", "many/<b> & c", "many/ü"];
  for (const key of keys) await put(key, "x");
  const escape = (key: string) => key.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const xml = `<Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${[...keys, "many/none"].map((key) => `<Object><Key>${escape(key)}</Key></Object>`).join("")}</Delete>`;
  const answer = await (await request({ method: "POST", path: "/bucket", query: { delete: "" }, body: Buffer.from(xml) })).text();
  expect(answer.match(/<Deleted>/g)).toHaveLength(4);
  for (const key of keys) expect((await get(key)).status).toBe(404);
  expect(await codeOf(await request({ method: "POST", path: "/bucket", query: { delete: "" }, body: Buffer.from("<Delete>") }))).toEqual([
    400,
    "MalformedXML",
  ]);
});

test("listings of both API versions page through keys and common prefixes", async () => {
  for (const key of ["p/a", "p/b/1", "p/b/2", "p/c+d e", "p/z"]) await put(key, "x");
  const pages = async (version: 1 | 2, size: number) => {
    const found: string[] = [];
    let next: Record<string, string> | undefined = {};
    while (next !== undefined) {
      const query: Record<string, string> = {
        prefix: "p/",
        delimiter: "/",
        "max-keys": String(size),
        "encoding-type": "url",
        ...next,
        ...(version === 2 ? { "list-type": "2" } : {}),
      };
      const xml = await (await request({ method: "GET", path: "/bucket", query })).text();
      found.push(...[...xml.matchAll(/<(?:Key|CommonPrefixes><Prefix)>([^<]*)</g)].map((match) => match[1] ?? ""));
      const marker = (version === 2 ? /<NextContinuationToken>([^<]*)</ : /<NextMarker>([^<]*)</).exec(xml)?.[1];
      expect(xml.includes("<IsTruncated>true<")).toBe(marker !== undefined);
      next = marker === undefined ? undefined : version === 2 ? { "continuation-token": marker } : { marker: decodeURIComponent(marker) };
    }
    return found.toSorted();
  };
  const all = ["p/a", "p/b/", "p/c%2Bd%20e", "p/z"];
  for (const size of [1, 2, 3, 1000]) expect([await pages(1, size), await pages(2, size)]).toEqual([all, all]);
  expect(await codeOf(await request({ method: "GET", path: "/bucket", query: { "list-type": "2", "max-keys": "-1" } }))).toEqual([
    400,
    "InvalidArgument",
  ]);
  expect(await codeOf(await request({ method: "GET", path: "/bucket", query: { "list-type": "2", "continuation-token": "?" } }))).toEqual([
    400,
    "InvalidArgument",
  ]);
});

test("buckets are created, listed and deleted", async () => {
  expect((await request({ method: "PUT", path: "/new-bucket" })).status).toBe(200);
  expect(await codeOf(await request({ method: "PUT", path: "/new-bucket" }))).toEqual([409, "BucketAlreadyOwnedByYou"]);
  expect((await request({ method: "HEAD", path: "/new-bucket" })).status).toBe(200);
  expect(await (await request({ method: "GET", path: "/" })).text()).toContain("<Name>new-bucket</Name>");
  await request({ method: "PUT", path: "/new-bucket/x", body: Buffer.from("x") });
  expect(await codeOf(await request({ method: "DELETE", path: "/new-bucket" }))).toEqual([409, "BucketNotEmpty"]);
  await request({ method: "DELETE", path: "/new-bucket/x" });
  expect((await request({ method: "DELETE", path: "/new-bucket" })).status).toBe(204);
  expect(await codeOf(await request({ method: "PUT", path: "/new-bucket/x", body: Buffer.from("x") }))).toEqual([404, "NoSuchBucket"]);
  expect(await codeOf(await request({ method: "GET", path: "/bucket", query: { acl: "" } }))).toEqual([501, "NotImplemented"]);
});

test("an interrupted upload keeps the previous object", async () => {
  await put("broken", "before");
  const { headers } = sign({ method: "PUT", path: "/bucket/broken", payloadHash: "UNSIGNED-PAYLOAD" }, `127.0.0.1:${server.port}`);
  const head = Object.entries({ ...headers, "content-length": "1000000" }).map(([name, value]) => `${name}: ${value}\r\n`);
  await new Promise<void>((resolve) => {
    const socket = connect(server.port, "127.0.0.1", () => {
      socket.write(`PUT /bucket/broken HTTP/1.1\r\n${head.join("")}\r\n${"x".repeat(400_000)}`, () => socket.destroy());
    });
    socket.on("close", () => resolve());
  });
  expect(await (await get("broken")).text()).toBe("before");
});

test("a client that expects 100-continue does not send the body of a refused request", async () => {
  const talk = (secretAccessKey: string) =>
    new Promise<string>((resolve) => {
      const body = "waited";
      const { headers } = sign(
        { method: "PUT", path: "/bucket/waited", body: Buffer.from(body), secretAccessKey },
        `127.0.0.1:${server.port}`,
      );
      const lines = Object.entries({ ...headers, "content-length": String(body.length), expect: "100-continue" }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      let text = "";
      const socket = connect(server.port, "127.0.0.1", () => socket.write(`PUT /bucket/waited HTTP/1.1\r\n${lines.join("")}\r\n`));
      socket.on("data", (piece) => {
        text += String(piece);
        if (text.endsWith("100 Continue\r\n\r\n")) socket.write(body);
        if (text.includes("200 OK")) socket.destroy();
      });
      socket.on("close", () => resolve(text));
    });
  expect(await talk("not the secret")).toMatch(/^HTTP\/1\.1 403 /);
  expect(await talk("miniostorage")).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
  expect(await (await get("waited")).text()).toBe("waited");
});

test("preflight requests of allowed origins succeed", async () => {
  const headers = { origin: "http://console", "access-control-request-method": "PUT", "access-control-request-headers": "content-md5" };
  const answer = await fetch(`http://127.0.0.1:${server.port}/bucket/x`, { method: "OPTIONS", headers });
  expect([answer.status, answer.headers.get("access-control-allow-headers")]).toEqual([200, "content-md5"]);
});

describe("web pages", () => {
  const send = (headers: Record<string, string>, method = "GET", host = `127.0.0.1:${server.port}`) => {
    const signed = sign({ method, path: "/bucket/page" }, host);
    return sendRaw(server.port, { method, path: "/bucket/page", headers: { ...signed.headers, host, ...headers } });
  };

  test("a request with another origin or a rebound host name is refused, also with a signature", async () => {
    await put("page", "content");
    const evil = { origin: "https://evil.example" };
    for (const [headers, method, host] of [
      [evil, "GET"],
      [evil, "PUT"],
      [evil, "DELETE"],
      [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" }, "GET"],
      [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" }, "GET"],
      [{}, "GET", "evil.example:30002"],
      [{}, "PUT", "evil.example:30002"],
    ] as const) {
      const answer = await send(headers, method, host);
      expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    }
    const preflight = { ...evil, "access-control-request-method": "PUT" };
    expect((await fetch(`http://127.0.0.1:${server.port}/bucket/page`, { method: "OPTIONS", headers: preflight })).status).toBe(403);
    expect(await (await get("page")).text()).toBe("content");
  });

  test("a user may open a signed URL, and a local console may embed it in a frame", async () => {
    await put("page", "content");
    const opened = { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document" };
    const framed = { "sec-fetch-site": "same-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" };
    expect([(await send(opened)).status, (await send(framed)).status]).toEqual([200, 200]);
  });
});
