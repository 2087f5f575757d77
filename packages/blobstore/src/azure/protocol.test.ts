import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { BlobStore } from "../blob-store.js";
import { createBlobStore } from "../create-blob-store.js";
import { BlobError, BlobUnavailableError } from "../errors.js";
import { type ScriptedServer, scriptedServer } from "../scripted-server.fixture.js";

// Tests what the emulator lacks: failures, folders, delegation keys for identities without TLS.
const bytes = (text: string) => new TextEncoder().encode(text);
const failure = (status: number, code: string) => ({ status, headers: { "x-ms-error-code": code } });

let server: ScriptedServer;
beforeAll(async () => {
  server = await scriptedServer();
});
beforeEach(() => void server.received.splice(0));
afterAll(() => server.close());

describe("requests", () => {
  let blobs: BlobStore;
  beforeAll(() => {
    const accountKey = Buffer.from("key").toString("base64");
    blobs = createBlobStore({ azure: { account: "one", accountKey, endpoint: `${server.url}/one` } });
  });
  afterAll(() => blobs.close());

  test("a put with ifAbsent carries a condition", async () => {
    server.answer = () => failure(409, "BlobAlreadyExists");
    expect(await blobs.put("abfs://c/dir/a b", bytes("x"), { ifAbsent: true })).toBe("exists");
    expect(server.received).toMatchObject([
      {
        method: "PUT",
        url: expect.stringMatching(/^\/one\/c\/dir\/a%20b\?/) as string,
        headers: { "if-none-match": "*", "x-ms-blob-type": "BlockBlob" },
      },
    ]);
  });

  test("transient errors are retried and reported when they persist", async () => {
    server.answer = () => (server.received.length < 3 ? failure(503, "ServerBusy") : { status: 201 });
    expect(await blobs.put("abfs://c/k", bytes("x"))).toBe("written");
    expect(server.received).toHaveLength(3);
    server.answer = () => failure(500, "InternalError");
    await expect(blobs.head("abfs://c/k")).rejects.toBeInstanceOf(BlobUnavailableError);
    expect(server.received).toHaveLength(7);
  });

  test("errors distinguish transient from permanent failures", async () => {
    server.answer = () => failure(403, "AuthorizationPermissionMismatch");
    await expect(blobs.get("abfs://c/k")).rejects.toThrow(BlobError);
    await expect(blobs.head("abfs://c/k")).rejects.not.toBeInstanceOf(BlobUnavailableError);
    server.answer = () => failure(409, "ContainerBeingDeleted");
    await expect(blobs.delete("abfs://c/k")).rejects.toBeInstanceOf(BlobUnavailableError);
    server.answer = () => failure(404, "ContainerNotFound");
    await expect(blobs.get("abfs://c/k")).rejects.toThrow(BlobError);
  });

  test("a directory of a hierarchical namespace is kept while it has contents", async () => {
    server.answer = () => failure(409, "DirectoryIsNotEmpty");
    await blobs.deleteAll(["abfs://c/folder"]);
    expect(server.received).toHaveLength(1);
  });

  test("keys and tokens are never sent to another account", async () => {
    server.answer = () => failure(404, "BlobNotFound");
    expect(await blobs.get("abfss://c@one.dfs.core.windows.net/k")).toBeUndefined();
    expect(server.received).toHaveLength(1);
    for (const uri of ["abfss://c@two.dfs.core.windows.net/k", "abfs://c@evil.example.com/k"]) {
      await expect(blobs.get(uri)).rejects.toThrow("stands in another storage account than one");
      await expect(blobs.presignGet(uri, { expiresInSeconds: 60 })).rejects.toThrow("another storage account");
    }
    expect(server.received).toHaveLength(1);
  });
});

describe("an identity", () => {
  beforeEach(() => {
    vi.stubEnv("IDENTITY_ENDPOINT", `${server.url}/identity`);
    vi.stubEnv("IDENTITY_HEADER", "secret of the pod");
  });
  afterEach(() => vi.unstubAllEnvs());

  test("an identity unknown to the cloud is a permanent error", async () => {
    server.answer = () => ({ status: 400, body: { error: "invalid_request", error_description: "Identity not found" } });
    const failing = createBlobStore({ azure: { account: "one", endpoint: "https://127.0.0.1:1" } }).get("abfs://c/k");
    await expect(failing).rejects.toThrow(BlobError);
    await expect(failing).rejects.not.toBeInstanceOf(BlobUnavailableError);
  });
});
