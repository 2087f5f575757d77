import { randomBytes } from "node:crypto";
import { BlobUnavailableError, createBlobStore, type BlobStore } from "@flyte-ts/blobstore";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ServerFixture, serverFixture, stop } from "./server.fixture.js";

// Tests the blob store client of all services (AWS SDK) against this server, where
// conformance/src/blobs does not cover it.
let server: ServerFixture;
let blobs: BlobStore;
const config = () => ({
  endpoint: `http://127.0.0.1:${server.port}`,
  region: "us-east-1",
  accessKeyId: "minio",
  secretAccessKey: "miniostorage",
});
const bytes = (text: string) => new TextEncoder().encode(text);

beforeAll(async () => {
  server = await serverFixture();
  blobs = createBlobStore({ s3: config() });
});
afterAll(async () => {
  blobs.close();
  await stop(server);
});

test("blobs of any size and key are returned unchanged", async () => {
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

test("a presigned URL is valid for its key, method and time, and for allowed origins", async () => {
  await blobs.put("s3://bucket/deck é.html", bytes("<p>"));
  const { url } = await blobs.presignGet("s3://bucket/deck é.html", { expiresInSeconds: 60 });
  const answer = await fetch(url, { headers: { origin: "http://console" } });
  expect([answer.status, answer.headers.get("access-control-allow-origin"), await answer.text()]).toEqual([200, "http://console", "<p>"]);
  const elsewhere = await fetch(url, { headers: { origin: "https://evil.example" } });
  expect([elsewhere.status, elsewhere.headers.get("access-control-allow-origin")]).toEqual([403, null]);
  expect((await fetch(url.replace("deck", "desk"))).status).toBe(403);
  expect((await fetch(url, { method: "DELETE" })).status).toBe(403);
  server.skewMs = 61_000;
  expect(await (await fetch(url)).text()).toContain("Request has expired");
  server.skewMs = 0;
});

test("a closing server finishes current requests and closes idle connections", async () => {
  const own = await serverFixture();
  const client = createBlobStore({ s3: { ...config(), endpoint: `http://127.0.0.1:${own.port}` } });
  let last = 0;
  const writers = Array.from({ length: 4 }, async (_, writer) => {
    for (let i = 0; ; i++) {
      await client.put(`s3://bucket/${writer}/${i}`, randomBytes(50_000));
      last++;
    }
  });
  // The writers may end before the server reports that it is closed.
  const allEnded = Promise.allSettled(writers);
  while (last < 20) await new Promise((resolve) => setTimeout(resolve, 5));
  await own.close();
  const ended = await allEnded;
  expect(ended.map((each) => each.status === "rejected" && each.reason instanceof BlobUnavailableError)).toEqual([true, true, true, true]);
  client.close();
  await stop(await serverFixture(own.folder));
});
