import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createBlobStore, schemesOf } from "./create-blob-store.js";
import { BlobUriError, BlobError, BlobTooLargeError } from "./errors.js";

const blobs = createBlobStore({});
const folder = () => `file://${mkdtempSync(join(tmpdir(), "blobs-"))}`;
const bytes = (text: string) => new TextEncoder().encode(text);
const text = (content: Uint8Array | undefined) => content && new TextDecoder().decode(content);

test("a blob can be read completely until it is deleted", async () => {
  const uri = `${folder()}/a b/ü%20/x.pb`;
  expect(await blobs.get(uri)).toBeUndefined();
  expect(await blobs.head(uri)).toBeUndefined();
  expect(await blobs.put(uri, bytes("one"))).toBe("written");
  expect(await blobs.put(uri, bytes("three"))).toBe("written");
  expect(text(await blobs.get(uri))).toBe("three");
  expect(await blobs.head(uri)).toMatchObject({ size: 5, metadata: {} });
  await blobs.delete(uri);
  await blobs.delete(uri);
  expect(await blobs.get(uri)).toBeUndefined();
});

test("exactly one of several concurrent writers with ifAbsent writes", async () => {
  const uri = `${folder()}/once`;
  const results = await Promise.all(Array.from({ length: 8 }, (_, i) => blobs.put(uri, bytes(`writer ${i}`), { ifAbsent: true })));
  expect(results.filter((result) => result === "written")).toHaveLength(1);
  expect(text(await blobs.get(uri))).toBe(`writer ${results.indexOf("written")}`);
});

test("failed writes leave no partial files", async () => {
  const root = folder();
  await blobs.put(`${root}/d/x`, bytes("1"));
  await blobs.put(`${root}/d/x`, bytes("2"), { ifAbsent: true });
  expect(readdirSync(`${root.slice(7)}/d`)).toEqual(["x"]);
});

test("a blob above the limit is rejected and one at the limit is read", async () => {
  const uri = `${folder()}/big`;
  await blobs.put(uri, bytes("12345"));
  await expect(blobs.get(uri, { maxBytes: 4 })).rejects.toThrow(BlobTooLargeError);
  expect(text(await blobs.get(uri, { maxBytes: 5 }))).toBe("12345");
});

test("files are uploaded and downloaded, and missing ones are reported", async () => {
  const root = folder();
  const here = join(mkdtempSync(join(tmpdir(), "files-")), "one");
  expect(await blobs.getFile(`${root}/d/x`, here)).toBe(false);
  writeFileSync(here, "content");
  await blobs.putFile(`${root}/d/x`, here);
  expect(text(await blobs.get(`${root}/d/x`))).toBe("content");
  expect(await blobs.getFile(`${root}/d/x`, `${here}.again`)).toBe(true);
  expect(readFileSync(`${here}.again`, "utf8")).toBe("content");
  expect(readdirSync(`${root.slice(7)}/d`)).toEqual(["x"]);
  await expect(blobs.putFile(`${root}/d/y`, `${here}.missing`)).rejects.toThrow(BlobError);
});

test("a listing returns blobs with a prefix, which may end within a name, in key order", async () => {
  const root = folder();
  for (const name of ["b/1", "b-2", "b0/3", "a", "c/d/e"]) await blobs.put(`${root}/${name}`, bytes(name));
  const listed = async (prefix: string) => {
    const uris: string[] = [];
    for await (const entry of blobs.list(`${root}/${prefix}`)) uris.push(entry.uri.slice(root.length + 1));
    return uris;
  };
  expect(await listed("")).toEqual(["a", "b-2", "b/1", "b0/3", "c/d/e"]);
  expect(await listed("b")).toEqual(["b-2", "b/1", "b0/3"]);
  expect(await listed("b/")).toEqual(["b/1"]);
  expect(await listed("nothing/here")).toEqual([]);
});

test("invalid URIs, buckets and presigning of files are permanent errors", async () => {
  const root = folder();
  writeFileSync(`${root.slice(7)}/file`, "");
  await expect(blobs.get("gopher://x")).rejects.toThrow("gopher://x: the address must be");
  await expect(blobs.get("s3://bucket")).rejects.toThrow("names a bucket");
  await expect(blobs.put(`${root}/../x`, bytes(""))).rejects.toThrow(BlobError);
  await expect(blobs.put(`${root}/file/below`, bytes(""))).rejects.toThrow(BlobError);
  await expect(blobs.presignPut(`${root}/x`, { expiresInSeconds: 1 })).rejects.toThrow("cannot be signed");
});

test("a store with configured schemes rejects all other schemes", async () => {
  const served = createBlobStore({ schemes: schemesOf("s3://bucket/metadata", "s3a://bucket") });
  const file = `${folder()}/secret`;
  writeFileSync(new URL(file), "secret");
  for (const uri of [file, new URL(file).pathname, "gs://other/x", "abfs://c@account.dfs.core.windows.net/x", "http://127.0.0.1/x", "x"]) {
    for (const refused of [served.get(uri), served.put(uri, bytes("x")), served.delete(uri), served.head(uri), served.deleteAll([uri])])
      await expect(refused).rejects.toBeInstanceOf(BlobUriError);
    expect(() => served.list(`${uri}/`)).toThrow(BlobUriError);
  }
  expect(readFileSync(new URL(file), "utf8")).toBe("secret");
  served.close();
});
