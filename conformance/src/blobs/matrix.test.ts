import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BlobError, type BlobStore, BlobTooLargeError, BlobUnavailableError, createBlobStore } from "@flyte-ts/blobstore";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startStore, type StoreKind, STORES, storeUnavailable, type TestedStore } from "./stores.js";

// Runs the same cases on every kind of store, for the behaviour that services rely on.
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array | undefined) => content && new TextDecoder().decode(content);
const md5 = (content: Uint8Array) => createHash("md5").update(content).digest();
const unavailable = new Map(await Promise.all(STORES.map(async (kind) => [kind.name, await storeUnavailable(kind)] as const)));

/** Names that a store could misinterpret. */
const UNUSUAL = [
  "with space",
  "two  spaces ",
  "ü/ñ/日本語",
  "😀",
  "a+b",
  "per%20cent%2F",
  "q?x=1&y",
  "h#ash",
  `quo'te"s`,
  "semi;colon",
  "<amp&>",
  "~tilde",
  "[b]{c}|^`",
  "=:,@$!*()",
  "dots..in...name",
  "x".repeat(200),
];

describe.each(STORES)("$name", (kind: StoreKind) => {
  const skip = unavailable.get(kind.name) !== undefined;
  let tested: TestedStore;
  let blobs: BlobStore;
  beforeAll(async () => {
    if (skip) return;
    tested = await startStore(kind);
    blobs = createBlobStore(tested.config);
  });
  afterAll(async () => {
    if (skip) return;
    blobs.close();
    await tested.stop();
  });
  const at = (key: string) => `${tested.uri}/${key}`;
  const listed = async (prefix: string) => {
    const uris: string[] = [];
    for await (const { uri } of blobs.list(at(prefix))) uris.push(uri);
    return uris;
  };
  const put = (url: string, body: Uint8Array, headers: Readonly<Record<string, string>> = {}) =>
    fetch(url, { method: "PUT", body: Buffer.from(body), headers: { ...headers } }).then(({ status }) => status);

  test.skipIf(skip)("a blob can be written, read, found, replaced and deleted", async () => {
    const uri = at("metadata/x/inputs.pb");
    expect(await blobs.get(uri)).toBeUndefined();
    expect(await blobs.get(uri, { maxBytes: 10 })).toBeUndefined();
    expect(await blobs.head(uri)).toBeUndefined();
    const before = Date.now();
    expect(await blobs.put(uri, bytes("content"), { metadata: { Colour: "red" }, contentType: "text/plain" })).toBe("written");
    expect(text(await blobs.get(uri))).toBe("content");
    const head = await blobs.head(uri);
    expect(head).toMatchObject({ size: 7, metadata: kind.keepsMetadata ? { colour: "red" } : {} });
    expect(Math.abs((head?.modifiedAt.getTime() ?? 0) - before)).toBeLessThan(120_000);
    expect(await blobs.put(uri, bytes("another content"))).toBe("written");
    expect(text(await blobs.get(uri))).toBe("another content");
    expect((await blobs.head(uri))?.etag).not.toBe(head?.etag);
    await blobs.delete(uri);
    await blobs.delete(uri);
    expect(await blobs.get(uri)).toBeUndefined();
  });

  test.skipIf(skip)("blobs of any size are returned unchanged; one over the limit is refused and the connection survives", async () => {
    for (const size of [0, 1, 65_536, 12_000_000]) {
      const content = randomBytes(size);
      await blobs.put(at("large"), content);
      expect(md5((await blobs.get(at("large"))) ?? bytes("?"))).toEqual(md5(content));
      expect(md5((await blobs.get(at("large"), { maxBytes: size })) ?? bytes("?"))).toEqual(md5(content));
    }
    const over = await Promise.allSettled(Array.from({ length: 4 }, () => blobs.get(at("large"), { maxBytes: 11_999_999 })));
    for (const each of over) expect(each).toMatchObject({ status: "rejected", reason: { size: 12_000_000, maxBytes: 11_999_999 } });
    await expect(blobs.get(at("large"), { maxBytes: 1 })).rejects.toThrow(BlobTooLargeError);
    expect(await blobs.get(at("large"))).toHaveLength(12_000_000);
  });

  test.skipIf(skip)("files of any size are transferred, and a missing blob is reported", async () => {
    const folder = mkdtempSync(join(tmpdir(), "files-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [from, to] = [join(folder, "from"), join(folder, "to")] as const;
    expect(await blobs.getFile(at("files/none"), to)).toBe(false);
    expect(existsSync(to)).toBe(false);
    for (const size of [0, 7, 17 * 1024 * 1024 + 11]) {
      const content = randomBytes(size);
      writeFileSync(from, content);
      await blobs.putFile(at(`files/${size}`), from);
      expect(await blobs.getFile(at(`files/${size}`), to)).toBe(true);
      expect(md5(readFileSync(to))).toEqual(md5(content));
    }
  });

  test.skipIf(skip)("an error of a local file is not reported as an error of the store", async () => {
    const missing = join(tmpdir(), "no", "such", "folder", "file");
    const putting = blobs.putFile(at("files/from-nowhere"), missing);
    await expect(putting).rejects.toThrow(BlobError);
    await expect(putting).rejects.not.toThrow(BlobUnavailableError);
    await blobs.put(at("files/there"), bytes("x"));
    await expect(blobs.getFile(at("files/there"), missing)).rejects.not.toThrow(BlobUnavailableError);
  });

  test.skipIf(skip)("exactly one of several concurrent writers that may not replace succeeds", async () => {
    const writers = Array.from({ length: 8 }, (_, i) => blobs.put(at("once"), bytes(`writer ${i}`), { ifAbsent: true }));
    const results = await Promise.all(writers);
    expect(results.filter((result) => result === "written")).toHaveLength(1);
    expect(text(await blobs.get(at("once")))).toBe(`writer ${results.indexOf("written")}`);
  });

  test.skipIf(skip)("a listing reads all pages, and all its blobs can be deleted", async () => {
    const names = Array.from({ length: 1_003 }, (_, i) => at(`list/${String(i).padStart(5, "0")}`));
    for (let from = 0; from < names.length; from += 50)
      await Promise.all(names.slice(from, from + 50).map((name) => blobs.put(name, bytes("x"))));
    await blobs.put(at("list-beside"), bytes("x"));
    expect(await listed("list/")).toEqual(names);
    // Deleting a blob that is already gone is no error.
    await blobs.delete(names[7] ?? "");
    await blobs.deleteAll(names);
    expect(await listed("list/")).toEqual([]);
    expect(await listed("list")).toEqual([at("list-beside")]);
    await blobs.deleteAll([]);
  });

  test.skipIf(skip)("a listing contains the blobs with a prefix in the order of keys", async () => {
    for (const name of ["b/1", "b-2", "b0/3", "a", "c/d/e"]) await blobs.put(at(`p/${name}`), bytes(name));
    const of = async (prefix: string) => (await listed(`p/${prefix}`)).map((uri) => uri.slice(at("p/").length));
    expect(await of("")).toEqual(["a", "b-2", "b/1", "b0/3", "c/d/e"]);
    expect(await of("b")).toEqual(["b-2", "b/1", "b0/3"]);
    expect(await of("b/")).toEqual(["b/1"]);
    expect(await of("nothing/here")).toEqual([]);
  });

  test.skipIf(skip)("unusual names are kept unchanged by all operations", async () => {
    for (const name of UNUSUAL) await blobs.put(at(`names/${name}`), bytes(name));
    expect((await listed("names/")).toSorted()).toEqual(UNUSUAL.map((name) => at(`names/${name}`)).toSorted());
    for (const name of UNUSUAL) {
      expect(text(await blobs.get(at(`names/${name}`)))).toBe(name);
      expect((await blobs.head(at(`names/${name}`)))?.size).toBe(bytes(name).length);
      if (!kind.signsUrls) continue;
      const { url } = await blobs.presignGet(at(`names/${name}`), { expiresInSeconds: 60 });
      expect([name, await (await fetch(url)).text()]).toEqual([name, name]);
    }
    await blobs.deleteAll(UNUSUAL.map((name) => at(`names/${name}`)));
    expect(await listed("names/")).toEqual([]);
  });

  test.skipIf(skip || !kind.reportsMissingBucket)("a missing bucket is an error other than a missing blob", async () => {
    const elsewhere = tested.uri.replace(/\/\/.*/, "//no-such-bucket/x");
    await expect(blobs.get(elsewhere)).rejects.toThrow(BlobError);
    await expect(blobs.put(elsewhere, bytes(""))).rejects.not.toBeInstanceOf(BlobUnavailableError);
  });

  test.skipIf(skip || !kind.signsUrls)("errors say whether a retry can help", async () => {
    const endpoint = "http://127.0.0.1:1";
    const { s3, gcs, azure } = tested.config;
    const missing = createBlobStore({
      ...(s3 && { s3: { ...s3, endpoint } }),
      ...(gcs && { gcs: { ...gcs, endpoint } }),
      ...(azure && { azure: { ...azure, endpoint } }),
    });
    onTestFinished(() => missing.close());
    await expect(missing.get(at("x"))).rejects.toThrow(BlobUnavailableError);
    await expect(missing.put(at("x"), bytes(""))).rejects.toThrow(BlobUnavailableError);
  });

  test.skipIf(skip || !kind.verifiesUploads)("wrong keys are a permanent error", async () => {
    const wrong = createBlobStore(tested.wrongKeys ?? {});
    onTestFinished(() => wrong.close());
    await expect(wrong.get(at("x"))).rejects.toThrow(BlobError);
    await expect(wrong.put(at("x"), bytes(""))).rejects.not.toBeInstanceOf(BlobUnavailableError);
  });

  test.skipIf(skip || !kind.signsUrls)(
    "an upload location accepts flytekit's requests with length and MD5 and flytectl's with neither",
    async () => {
      const content = bytes("a code bundle");
      const uri = at("p/d/ABC=/fast.tar.gz");
      const { url, headers } = await blobs.presignPut(uri, { expiresInSeconds: 60 });
      expect([200, 201]).toContain(await put(url, content, headers));
      const flytekit = { ...headers, "Content-MD5": md5(content).toString("base64"), "Content-Length": String(content.length) };
      expect([200, 201]).toContain(await put(url, content, flytekit));
      expect(text(await blobs.get(uri))).toBe("a code bundle");
      expect((await blobs.head(uri))?.etag).toBe(md5(content).toString("hex"));
    },
  );

  test.skipIf(skip || !kind.signsUrls)("an upload location with metadata accepts the headers that it returned", async () => {
    const content = bytes("deck");
    const sum = md5(content).toString("base64");
    const { url, headers } = await blobs.presignPut(at("p/deck"), { expiresInSeconds: 60, metadata: { flyteContentMD5: sum } });
    expect(headers).toMatchObject({ [`${kind.metadataHeader}flyteContentMD5`]: sum });
    expect([200, 201]).toContain(await put(url, content, headers));
    expect(await blobs.head(at("p/deck"))).toMatchObject({ metadata: { flytecontentmd5: sum } });
  });

  test.skipIf(skip || !kind.verifiesUploads)("an upload that does not match its MD5 is refused", async () => {
    const { url, headers } = await blobs.presignPut(at("p/sum"), { expiresInSeconds: 60 });
    expect(await put(url, bytes("another"), { ...headers, "Content-MD5": md5(bytes("one")).toString("base64") })).toBe(400);
    expect(await blobs.head(at("p/sum"))).toBeUndefined();
  });

  test.skipIf(skip || !kind.enforcesHeaders)("an upload without the signed headers is refused", async () => {
    const sum = md5(bytes("exact")).toString("base64");
    const kept = await blobs.presignPut(at("p/exact"), { expiresInSeconds: 60, metadata: { flyteContentMD5: sum } });
    expect(await put(kept.url, bytes("exact"))).toBe(403);
    const exact = await blobs.presignPut(at("p/exact"), { expiresInSeconds: 60, contentMd5: sum });
    expect(await put(exact.url, bytes("exact"))).toBe(403);
    expect(await put(exact.url, bytes("other"), exact.headers)).toBe(400);
    expect(await put(exact.url, bytes("exact"), exact.headers)).toBe(200);
    const once = await blobs.presignPut(at("p/new"), { expiresInSeconds: 60, createOnly: true });
    expect(await put(once.url, bytes("without its condition"))).toBe(403);
  });

  test.skipIf(skip || !kind.signsUrls || kind.ignoredCondition !== undefined)(
    "a create-only upload location replaces no blob",
    async () => {
      const { url, headers } = await blobs.presignPut(at("p/once"), { expiresInSeconds: 60, createOnly: true });
      expect([200, 201]).toContain(await put(url, bytes("first"), headers));
      expect([403, 409, 412]).toContain(await put(url, bytes("second"), headers));
      expect(text(await blobs.get(at("p/once")))).toBe("first");
    },
  );

  test.skipIf(skip || kind.ignoredCondition === undefined)("a create-only upload location signs its condition", async () => {
    const condition = kind.ignoredCondition ?? "";
    const { url, headers } = await blobs.presignPut(at("p/once"), { expiresInSeconds: 60, createOnly: true });
    expect(headers).toMatchObject({ [condition]: "0" });
    expect(new URL(url).searchParams.get("X-Goog-SignedHeaders")?.split(";")).toContain(condition);
    expect([200, 201]).toContain(await put(url, bytes("first"), headers));
  });

  test.skipIf(skip || !kind.signsUrls)("a signed URL needs no credentials and is valid for at most a week", async () => {
    await blobs.put(at("deck é.html"), bytes("<p>"));
    const { url } = await blobs.presignGet(at("deck é.html"), { expiresInSeconds: 60 });
    expect(await (await fetch(url)).text()).toBe("<p>");
    const missing = await blobs.presignGet(at("not there"), { expiresInSeconds: 60 });
    expect((await fetch(missing.url)).status).toBe(404);
    for (const seconds of [0, -1, 604_801, Number.NaN])
      await expect(blobs.presignGet(at("x"), { expiresInSeconds: seconds })).rejects.toThrow("a signed address lives 1 to 604800 seconds");
  });

  test.skipIf(skip || !kind.verifiesUploads)("a signed URL is invalid for another key, another method, and after its expiry", async () => {
    await blobs.put(at("deck é.html"), bytes("<p>"));
    await blobs.put(at("desk é.html"), bytes("secret"));
    const { url } = await blobs.presignGet(at("deck é.html"), { expiresInSeconds: 60 });
    expect((await fetch(url.replace("deck", "desk"))).status).toBe(403);
    expect((await fetch(url, { method: "DELETE" })).status).toBe(403);
    expect(await put(url, bytes("other"), { "x-ms-blob-type": "BlockBlob" })).toBe(403);
    const short = await blobs.presignGet(at("deck é.html"), { expiresInSeconds: 1 });
    await expect.poll(async () => (await fetch(short.url)).status).toBe(403);
  });

  test.skipIf(skip || !kind.signsUrls)("signed URLs contain the public endpoint", async () => {
    const publicEndpoint = "https://blobs.example.com/base";
    const { s3, gcs, azure } = tested.config;
    const outside = createBlobStore({
      ...(s3 && { s3: { ...s3, publicEndpoint: "https://blobs.example.com" } }),
      ...(gcs && { gcs: { ...gcs, publicEndpoint: "https://blobs.example.com" } }),
      ...(azure && { azure: { ...azure, publicEndpoint } }),
    });
    onTestFinished(() => outside.close());
    const { url } = await outside.presignGet(at("k"), { expiresInSeconds: 60 });
    expect(url).toMatch(/^https:\/\/blobs\.example\.com\/(base\/)?(bucket|container)\/k\?/);
  });

  test.skipIf(skip || kind.signsUrls)("the store signs no URLs", async () => {
    await expect(blobs.presignPut(at("x"), { expiresInSeconds: 1 })).rejects.toThrow("cannot be signed");
    await expect(blobs.presignGet(at("x"), { expiresInSeconds: 1 })).rejects.toThrow("cannot be signed");
  });
});
