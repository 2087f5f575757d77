import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createBlobStore } from "@flyte-ts/blobstore";
import { freePort } from "@flyte-ts/host";
import { type BlobAccess, openBlobs } from "@flyte-ts/runtime";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServiceProcess, startService } from "../stack/service-process.js";

// The blob client of TypeScript tasks against the S3 server of the local stack, which verifies
// every signature and the hash of every body. What it writes, another client reads.
const KEYS = { accessKeyId: "minio", secretAccessKey: "miniostorage" };
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-s3-"));
let server: ServiceProcess;
let endpoint: string;
let blobs: BlobAccess;

const environment = (secretAccessKey = KEYS.secretAccessKey) => ({
  FLYTE_AWS_ENDPOINT: endpoint,
  FLYTE_AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
  FLYTE_AWS_SECRET_ACCESS_KEY: secretAccessKey,
});

beforeAll(async () => {
  const [port, ops] = await Promise.all([freePort(), freePort()]);
  const config = { port, ops: { port: ops }, dataDir: join(folder, "blobs"), buckets: ["bucket"], ...KEYS };
  server = await startService({ name: "blobs", service: "local-blobstore", folder, readyPort: ops, config });
  endpoint = `http://127.0.0.1:${port}`;
  blobs = openBlobs(environment());
});
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const LIMIT = { maxBytes: 64 << 20 };

async function content(pieces: AsyncIterable<Uint8Array> | undefined): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces ?? []) parts.push(piece);
  return Buffer.concat(parts);
}

test.each(["plain", "with space", "ünïcode/日本", "a+b&c=d?e#f", "percent%20sign", "quote'(star)*!", "a//b", "ends/"])(
  "an object with the key %j is written, found, read and listed",
  async (key) => {
    const uri = `s3://bucket/${key}`;
    await blobs.write(uri, Buffer.from(key));
    expect(await blobs.size(uri)).toBe(Buffer.byteLength(key));
    expect(Buffer.from((await blobs.read(uri, LIMIT)) ?? []).toString()).toBe(key);
    const listed: unknown[] = [];
    for await (const entry of blobs.list(uri)) listed.push(entry);
    expect(listed).toContainEqual({ uri, size: Buffer.byteLength(key) });
  },
);

test("a missing object is undefined", async () => {
  expect(await blobs.read("s3://bucket/none", LIMIT)).toBeUndefined();
  expect(await blobs.stream("s3://bucket/none")).toBeUndefined();
  expect(await blobs.size("s3://bucket/none")).toBeUndefined();
});

test("a stream of 20 MiB is written in parts, and any range of it is read", async () => {
  const whole = Buffer.alloc(20 << 20);
  for (let at = 0; at < whole.length; at += 4) whole.writeUInt32LE(at, at);
  const pieces = (async function* () {
    for (let at = 0; at < whole.length; at += 700_001) yield whole.subarray(at, at + 700_001);
  })();
  await blobs.writeStream("s3://bucket/large", pieces);
  const other = createBlobStore({ s3: { endpoint, ...KEYS } });
  const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  expect(sha256((await other.get("s3://bucket/large")) ?? new Uint8Array())).toBe(sha256(whole));
  expect(sha256(await content(await blobs.stream("s3://bucket/large")))).toBe(sha256(whole));
  const range = await content(await blobs.stream("s3://bucket/large", { offset: 9_000_000, length: 1_000_000 }));
  expect(range.equals(whole.subarray(9_000_000, 10_000_000))).toBe(true);
  expect((await content(await blobs.stream("s3://bucket/large", { offset: whole.length - 5 }))).length).toBe(5);
  await expect(blobs.read("s3://bucket/large", { maxBytes: 1 << 20 })).rejects.toThrow("more than the 1048576 that may be read");
  other.close();
});

test("a stream that fails leaves no object", async () => {
  const pieces = (async function* () {
    for (let count = 0; count < 3; count++) yield Buffer.alloc(6 << 20);
    throw new Error("the source failed");
  })();
  await expect(blobs.writeStream("s3://bucket/failed", pieces)).rejects.toThrow("the source failed");
  expect(await blobs.size("s3://bucket/failed")).toBeUndefined();
});

test("an empty stream makes an empty object", async () => {
  await blobs.writeStream("s3://bucket/empty", (async function* () {})());
  expect(await blobs.size("s3://bucket/empty")).toBe(0);
});

test("a listing of several pages is complete and in order", async () => {
  const names = Array.from({ length: 1_003 }, (_, index) => `s3://bucket/many/${String(index).padStart(4, "0")}`);
  for (let at = 0; at < names.length; at += 50)
    await Promise.all(names.slice(at, at + 50).map((uri) => blobs.write(uri, new Uint8Array())));
  const listed: string[] = [];
  for await (const { uri } of blobs.list("s3://bucket/many/")) listed.push(uri);
  expect(listed).toEqual(names);
});

test("a wrong secret is refused with the reason, which does not contain it", async () => {
  const failure = await openBlobs(environment("another secret"))
    .read("s3://bucket/plain", LIMIT)
    .catch((error: unknown) => error);
  expect(failure).toMatchObject({ transient: false, message: expect.stringContaining("SignatureDoesNotMatch") });
  expect(String(failure)).not.toContain("another secret");
});

test("a server that is away is a transient failure", async () => {
  await server.terminate();
  await expect(blobs.read("s3://bucket/plain", LIMIT)).rejects.toMatchObject({ transient: true });
  await server.restart();
  expect(Buffer.from((await blobs.read("s3://bucket/plain", LIMIT)) ?? []).toString()).toBe("plain");
});
