import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlobError, BlobTooLarge, BlobUnavailable, createBlobStore, type BlobStore } from "@flyte-ts/blobstore";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServerFixture, serverFixture, stop } from "./server.fixture.js";

// The blob store client of all services, over the AWS SDK, against this server.
let server: ServerFixture;
let blobs: BlobStore;
const config = () => ({
  endpoint: `http://127.0.0.1:${server.port}`,
  region: "us-east-1",
  accessKeyId: "minio",
  secretAccessKey: "miniostorage",
});
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array | undefined) => content && new TextDecoder().decode(content);
const md5 = (content: Uint8Array) => createHash("md5").update(content).digest();

beforeAll(async () => {
  server = await serverFixture();
  blobs = createBlobStore({ s3: config() });
});
afterAll(async () => {
  blobs.close();
  await stop(server);
});

test("a blob is put, read, known and deleted", async () => {
  const uri = "s3://bucket/metadata/x/inputs.pb";
  expect(await blobs.get(uri)).toBeUndefined();
  expect(await blobs.head(uri)).toBeUndefined();
  expect(await blobs.put(uri, bytes("content"), { metadata: { Colour: "red" }, contentType: "text/plain" })).toBe("written");
  expect(text(await blobs.get(uri))).toBe("content");
  expect(await blobs.head(uri)).toMatchObject({ size: 7, etag: md5(bytes("content")).toString("hex"), metadata: { colour: "red" } });
  await blobs.delete(uri);
  await blobs.delete(uri);
  expect(await blobs.get(uri)).toBeUndefined();
});

test("blobs of any size and key come back as they went", async () => {
  const part = fc.oneof(fc.string({ unit: "binary", maxLength: 12 }), fc.constantFrom("..", ".", "", "a+b", "%2F", "x".repeat(255)));
  const key = fc
    .array(part, { minLength: 1, maxLength: 4 })
    .map((parts) => parts.join("/"))
    .filter((each) => each !== "" && each.isWellFormed());
  await fc.assert(
    fc.asyncProperty(key, fc.constantFrom(0, 1, 5_000, 20_000, 300_000), async (name, size) => {
      const content = randomBytes(size);
      const uri = `s3://bucket/any/${name}`;
      await blobs.put(uri, content);
      expect(Buffer.from((await blobs.get(uri)) ?? []).equals(content)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("a blob over the limit is refused, and the connection stays good", async () => {
  await blobs.put("s3://bucket/large", randomBytes(2_000_000));
  for (let i = 0; i < 5; i++) await expect(blobs.get("s3://bucket/large", { maxBytes: 1_999_999 })).rejects.toThrow(BlobTooLarge);
  expect(await blobs.get("s3://bucket/large", { maxBytes: 2_000_000 })).toHaveLength(2_000_000);
});

test.each([0, 7, 8 * 1024 * 1024 + 1, 17 * 1024 * 1024 + 11])("a file of %i bytes goes and comes", async (size) => {
  const folder = mkdtempSync(join(tmpdir(), "files-"));
  const [from, to] = [join(folder, "from"), join(folder, "to")] as const;
  const content = randomBytes(size);
  writeFileSync(from, content);
  expect(await blobs.getFile("s3://bucket/files/none", to)).toBe(false);
  await blobs.putFile(`s3://bucket/files/${size}`, from);
  expect(await blobs.getFile(`s3://bucket/files/${size}`, to)).toBe(true);
  expect(readFileSync(to).equals(content)).toBe(true);
  rmSync(folder, { recursive: true });
});

test("a file that cannot be read or written here is no trouble of the store", async () => {
  const nowhere = join(tmpdir(), "no", "such", "folder", "file");
  const putting = blobs.putFile("s3://bucket/files/from-nowhere", nowhere);
  await expect(putting).rejects.toThrow(BlobError);
  await expect(putting).rejects.not.toThrow(BlobUnavailable);
  await blobs.put("s3://bucket/files/there", bytes("x"));
  await expect(blobs.getFile("s3://bucket/files/there", nowhere)).rejects.not.toThrow(BlobUnavailable);
});

test("of many writers that must not replace, one writes", async () => {
  const results = await Promise.all(
    Array.from({ length: 8 }, (_, i) => blobs.put("s3://bucket/once", bytes(`writer ${i}`), { ifNoneMatch: true })),
  );
  expect(results.filter((result) => result === "written")).toHaveLength(1);
  expect(text(await blobs.get("s3://bucket/once"))).toBe(`writer ${results.indexOf("written")}`);
});

test("a listing goes over all pages", async () => {
  const names = Array.from({ length: 1_203 }, (_, i) => `s3://bucket/list/${String(i).padStart(5, "0")}`);
  for (let from = 0; from < names.length; from += 50)
    await Promise.all(names.slice(from, from + 50).map((name) => blobs.put(name, bytes("x"))));
  const listed: string[] = [];
  for await (const entry of blobs.list("s3://bucket/list/")) listed.push(entry.uri);
  expect(listed).toEqual(names);
});

test("failures tell whether to try again", async () => {
  const wrong = createBlobStore({ s3: { ...config(), secretAccessKey: "not the secret" } });
  const nowhere = createBlobStore({ s3: { ...config(), endpoint: "http://127.0.0.1:1" } });
  await expect(wrong.get("s3://bucket/x")).rejects.toThrow("SignatureDoesNotMatch");
  await expect(wrong.put("s3://bucket/x", bytes(""))).rejects.not.toBeInstanceOf(BlobUnavailable);
  await expect(blobs.get("s3://no-such-bucket/x")).rejects.toThrow(BlobError);
  await expect(nowhere.get("s3://bucket/x")).rejects.toThrow(BlobUnavailable);
  wrong.close();
  nowhere.close();
});

test("an upload location takes what flytekit sends, with length and MD5, and what flytectl sends, with neither", async () => {
  const content = bytes("a code bundle");
  const { url, headers } = await blobs.signPut("s3://bucket/p/d/ABC=/fast.tar.gz", { expiresInSeconds: 60 });
  expect(headers).toEqual({});
  expect((await fetch(url, { method: "PUT", body: content })).status).toBe(200);
  const flytekit = { "Content-MD5": md5(content).toString("base64"), "Content-Length": String(content.length) };
  expect((await fetch(url, { method: "PUT", body: content, headers: flytekit })).status).toBe(200);
  expect((await fetch(url, { method: "PUT", body: bytes("another"), headers: { "Content-MD5": flytekit["Content-MD5"] } })).status).toBe(
    400,
  );
  expect(text(await blobs.get("s3://bucket/p/d/ABC=/fast.tar.gz"))).toBe("a code bundle");
});

test("an upload location with metadata takes the headers that it came with, and no upload without them", async () => {
  const content = bytes("deck");
  const sum = md5(content).toString("base64");
  const { url, headers } = await blobs.signPut("s3://bucket/p/deck", { expiresInSeconds: 60, metadata: { flyteContentMD5: sum } });
  expect(headers).toEqual({ "x-amz-meta-flyteContentMD5": sum });
  expect((await fetch(url, { method: "PUT", body: content })).status).toBe(403);
  expect((await fetch(url, { method: "PUT", body: content, headers: { ...headers } })).status).toBe(200);
  expect(await blobs.head("s3://bucket/p/deck")).toMatchObject({ metadata: { flytecontentmd5: sum } });
});

test("an upload location with an MD5 takes that content alone", async () => {
  const { url, headers } = await blobs.signPut("s3://bucket/p/exact", {
    expiresInSeconds: 60,
    contentMd5: md5(bytes("exact")).toString("base64"),
  });
  expect((await fetch(url, { method: "PUT", body: bytes("exact"), headers: { ...headers } })).status).toBe(200);
  expect((await fetch(url, { method: "PUT", body: bytes("other"), headers: { ...headers } })).status).toBe(400);
  expect((await fetch(url, { method: "PUT", body: bytes("exact") })).status).toBe(403);
});

test("a signed address is good for its key, its method and its time, and from any page", async () => {
  await blobs.put("s3://bucket/deck é.html", bytes("<p>"));
  const { url } = await blobs.signGet("s3://bucket/deck é.html", { expiresInSeconds: 60 });
  const answer = await fetch(url, { headers: { origin: "http://console" } });
  expect([answer.status, answer.headers.get("access-control-allow-origin"), await answer.text()]).toEqual([200, "*", "<p>"]);
  expect((await fetch(url.replace("deck", "desk"))).status).toBe(403);
  expect((await fetch(url, { method: "DELETE" })).status).toBe(403);
  server.skewMs = 61_000;
  expect(await (await fetch(url)).text()).toContain("Request has expired");
  server.skewMs = 0;
});

test("signed addresses carry the address that clients outside reach", async () => {
  const outside = createBlobStore({ s3: { ...config(), publicEndpoint: "https://blobs.example.com" } });
  const { url } = await outside.signGet("s3://bucket/k", { expiresInSeconds: 60 });
  expect(url).toMatch(/^https:\/\/blobs\.example\.com\/bucket\/k\?/);
  outside.close();
});

test("a server that closes answers what is under way, and does not wait for clients that would go on", async () => {
  const own = await serverFixture();
  const client = createBlobStore({ s3: { ...config(), endpoint: `http://127.0.0.1:${own.port}` } });
  let last = 0;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let i = 0; ; i++) {
      await client.put(`s3://bucket/${writer}/${i}`, randomBytes(50_000));
      last++;
    }
  });
  while (last < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  await own.close();
  const ended = await Promise.allSettled(writers);
  expect(ended.map((each) => each.status === "rejected" && each.reason instanceof BlobUnavailable)).toEqual([true, true, true, true]);
  client.close();
  await stop(await serverFixture(own.folder));
});
