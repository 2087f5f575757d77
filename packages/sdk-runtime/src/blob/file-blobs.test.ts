import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openBlobs } from "./open-blobs.js";

const blobs = openBlobs({});
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-blobs-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

async function text(pieces: AsyncIterable<Uint8Array> | undefined): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const piece of pieces ?? []) parts.push(piece);
  return Buffer.concat(parts).toString();
}

test("files are written, read in parts and listed in the order of their keys", async () => {
  for (const name of ["b", "a/2", "a/1", "a-b"]) await blobs.write(`file://${folder}/${name}`, Buffer.from(`of ${name}`));
  const uris: string[] = [];
  for await (const { uri } of blobs.list(`file://${folder}/a`)) uris.push(uri.slice(`file://${folder}/`.length));
  expect(uris).toEqual(["a-b", "a/1", "a/2"]);
  expect(await text(await blobs.stream(`${folder}/a/1`, { offset: 3, length: 2 }))).toBe("a/");
  expect(await text(await blobs.stream(`${folder}/a/1`, { offset: 3, length: 0 }))).toBe("");
  expect(await blobs.size(`${folder}/a/1`)).toBe(6);
  expect(await blobs.read(`${folder}/none`, { maxBytes: 1 })).toBeUndefined();
  await expect(blobs.read(`${folder}/b`, { maxBytes: 3 })).rejects.toThrow("has 4 bytes");
});

test("an interrupted write leaves nothing behind", async () => {
  const pieces = (async function* () {
    yield Buffer.from("half");
    throw new Error("the source failed");
  })();
  await expect(blobs.writeStream(`file://${folder}/half`, pieces)).rejects.toThrow("the source failed");
  expect(readdirSync(folder)).toEqual([]);
});

test("an error of the source of a write stays what it is", async () => {
  const error = new TypeError("the source failed");
  const pieces = (async function* () {
    yield Buffer.from("half");
    throw error;
  })();
  await expect(blobs.writeStream(`file://${folder}/half`, pieces)).rejects.toBe(error);
});

test("a listing below a file, and one that the system refuses, are told apart", async () => {
  await blobs.write(`${folder}/file`, Buffer.from("x"));
  const list = async (prefix: string) => {
    const uris: string[] = [];
    for await (const { uri } of blobs.list(prefix)) uris.push(uri);
    return uris;
  };
  expect(await list(`${folder}/file/`)).toEqual([]);
  await expect(list(`${folder}/${"x".repeat(300)}/`)).rejects.toMatchObject({ name: "BlobFailure", transient: false });
});

test.each(["relative/path", "ftp://host/file", "file://relative", "file:///a/../b"])("the address %s is refused", async (uri) => {
  await expect(blobs.read(uri, { maxBytes: 1 })).rejects.toMatchObject({ transient: false });
});
