import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { BlobStore } from "../blob-store.js";
import { createBlobStore } from "../create-blob-store.js";
import { BlobError, BlobUnavailableError } from "../errors.js";
import { type Received, type ScriptedServer, scriptedServer } from "../scripted-server.fixture.js";
import { verifyV4 } from "./verify-v4.fixture.js";

// Tests what the emulator lacks: the difference between missing buckets and blobs, checks of
// credentials and signatures, failures.
const folder = mkdtempSync(join(tmpdir(), "flyte-ts-gcs-"));
const keyFile = join(folder, "key.json");
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const bytes = (text: string) => new TextEncoder().encode(text);
const apiError = (code: number, message: string) => ({ status: code, body: { error: { code, message, errors: [{ message }] } } });

let server: ScriptedServer;
beforeAll(async () => {
  server = await scriptedServer();
  const pem = privateKey.export({ type: "pkcs8", format: "pem" });
  const key = { type: "service_account", client_email: "writer@p.example.com", private_key: pem };
  writeFileSync(keyFile, JSON.stringify(key));
});
beforeEach(() => void server.received.splice(0));
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

describe("requests", () => {
  let blobs: BlobStore;
  beforeAll(() => {
    blobs = createBlobStore({ gcs: { endpoint: server.url, anonymous: true } });
  });

  test("a put with ifAbsent requires generation 0 and sends the MD5", async () => {
    server.answer = () => apiError(412, "At least one of the pre-conditions you specified did not hold.");
    expect(await blobs.put("gs://b/dir/a b", bytes("x"), { ifAbsent: true, metadata: { kind: "test" } })).toBe("exists");
    expect(server.received).toHaveLength(1);
    const [{ method, url, body }] = server.received as [Received];
    const requestUrl = new URL(url, server.url);
    expect([method, requestUrl.pathname]).toEqual(["POST", "/upload/storage/v1/b/b/o"]);
    expect(Object.fromEntries(requestUrl.searchParams)).toMatchObject({ uploadType: "multipart", ifGenerationMatch: "0", name: "dir/a b" });
    expect(body).toContain(`"md5Hash":"${createHash("md5").update("x").digest("base64")}"`);
    expect(body).toContain(`"metadata":{"kind":"test"}`);
  });

  test("transient errors are retried, also for puts", async () => {
    server.answer = () => (server.received.length < 3 ? apiError(503, "Backend Error") : { status: 200, body: { name: "k" } });
    expect(await blobs.put("gs://b/k", bytes("x"))).toBe("written");
    expect(server.received).toHaveLength(3);
  });

  test("errors distinguish transient from permanent failures", async () => {
    server.answer = () => apiError(403, "writer does not have storage.objects.get access");
    await expect(blobs.get("gs://b/k")).rejects.toThrow("gs://b/k: ");
    await expect(blobs.head("gs://b/k")).rejects.not.toBeInstanceOf(BlobUnavailableError);
    server.answer = () => apiError(409, "The object is being changed");
    await expect(blobs.delete("gs://b/k")).rejects.toBeInstanceOf(BlobUnavailableError);
  });

  test("a missing bucket is an error and not a missing blob", async () => {
    server.answer = () => ({ status: 404, body: "No such object: b/k" });
    expect(await blobs.get("gs://b/k")).toBeUndefined();
    expect(await blobs.get("gs://b/k", { maxBytes: 5 })).toBeUndefined();
    server.answer = () => apiError(404, "No such object: b/k");
    expect(await blobs.head("gs://b/k")).toBeUndefined();
    await blobs.delete("gs://b/k");
    server.answer = () => ({ status: 404, body: "The specified bucket does not exist." });
    await expect(blobs.get("gs://b/k")).rejects.toBeInstanceOf(BlobError);
    server.answer = () => apiError(404, "The specified bucket does not exist.");
    await expect(blobs.head("gs://b/k")).rejects.toBeInstanceOf(BlobError);
  });
});

describe("credentials", () => {
  afterEach(() => vi.unstubAllEnvs());

  test("a key file signs as documented by Google", async () => {
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", keyFile);
    const blobs = createBlobStore({});
    const sum = createHash("md5").update("x").digest("base64");
    const metadata = { flyteContentMD5: sum };
    const put = await blobs.presignPut("gs://b/p/a b+(ü)~.gz", { expiresInSeconds: 60, metadata, contentMd5: sum });
    expect(put.headers).toEqual({ "x-goog-meta-flyteContentMD5": sum, "Content-MD5": sum });
    const signed = { "x-goog-meta-flytecontentmd5": sum, "content-md5": sum };
    expect(verifyV4(put.url, "PUT", { key: publicKey, headers: signed })).toBe(true);
    expect(verifyV4(put.url, "GET", { key: publicKey, headers: signed })).toBe(false);
    expect(verifyV4(put.url, "PUT", { key: publicKey, headers: { ...signed, "content-md5": "other" } })).toBe(false);
    const get = await blobs.presignGet("gs://b/p/a b+(ü)~.gz", { expiresInSeconds: 604_800 });
    expect(verifyV4(get.url, "GET", { key: publicKey, headers: {} })).toBe(true);
    expect(new URL(get.url).searchParams.get("X-Goog-Expires")).toBe("604800");
  });

  test("without a key, the pod's identity signs through IAM", async () => {
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", "");
    vi.stubEnv("CLOUDSDK_CONFIG", folder);
    vi.stubEnv("HOME", folder);
    vi.stubEnv("GCE_METADATA_HOST", server.host);
    const flavour = { "metadata-flavor": "Google" };
    server.answer = ({ url }) => {
      if (url.endsWith(":signBlob")) return { status: 200, body: { signedBlob: Buffer.from("signature").toString("base64") } };
      if (url.includes("/token"))
        return { status: 200, headers: flavour, body: { access_token: "a-token", expires_in: 3_600, token_type: "Bearer" } };
      if (url.includes("/email")) return { status: 200, headers: flavour, body: "pod@p.example.com" };
      if (url.includes("/universe")) return { status: 404, headers: flavour };
      return { status: 200, headers: flavour, body: "p" };
    };
    const blobs = createBlobStore({ gcs: { endpoint: server.url, signingEndpoint: `${server.url}/sign` } });
    await blobs.delete("gs://b/k");
    expect(server.received.at(-1)).toMatchObject({ method: "DELETE", headers: { authorization: "Bearer a-token" } });
    const { url } = await blobs.presignGet("gs://b/k", { expiresInSeconds: 60 });
    const query = new URL(url).searchParams;
    expect(query.get("X-Goog-Signature")).toBe(Buffer.from("signature").toString("hex"));
    expect(query.get("X-Goog-Credential")).toMatch(/^pod@p\.example\.com\//);
    const requestUrl = server.received.find((request) => request.url.endsWith(":signBlob"));
    expect(requestUrl).toMatchObject({
      method: "POST",
      url: "/sign/pod@p.example.com:signBlob",
      headers: { authorization: "Bearer a-token" },
    });
  });

  test("missing credentials are a permanent error", async () => {
    vi.stubEnv("GOOGLE_APPLICATION_CREDENTIALS", join(folder, "none.json"));
    const missing = createBlobStore({});
    const failing = missing.get("gs://b/k");
    await expect(failing).rejects.toThrow(BlobError);
    await expect(failing).rejects.not.toBeInstanceOf(BlobUnavailableError);
  });
});
