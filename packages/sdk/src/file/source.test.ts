import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeValue } from "../codec/encode.js";
import { FileEncoding } from "../codec/encoding.js";
import { rootPlace } from "../codec/place.js";
import { t } from "../type/t.js";
import { LocalFileStore } from "./local-store.js";
import { directoryUri } from "./source.js";

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "flyte-ts-source-"));
  folder = join(root, "model");
  mkdirSync(join(folder, "ckpt-9"), { recursive: true });
  writeFileSync(join(folder, "ckpt-9", "weights"), "9");
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function uploaded(): Promise<string[]> {
  const files = new LocalFileStore(join(root, "store"));
  const encoding = new FileEncoding(files);
  const uri = directoryUri({ path: folder }, encoding, { path: "o0" } as never);
  await encoding.finish();
  const found = [];
  for await (const file of files.list(uri)) found.push(file.slice(uri.length + 1));
  return found.toSorted();
}

test("a directory is written with the files and directories that its links lead to", async () => {
  writeFileSync(join(root, "blob"), "blob");
  symlinkSync("ckpt-9", join(folder, "latest"));
  symlinkSync("../blob", join(folder, "model.bin"));
  expect(await uploaded()).toEqual(["ckpt-9/weights", "latest/weights", "model.bin"]);
});

test("a broken link in a directory is an error that names it", async () => {
  symlinkSync("ckpt-10", join(folder, "latest"));
  await expect(uploaded()).rejects.toThrow(`${join(folder, "latest")} is a link to ckpt-10, which cannot be read: `);
});

test("a link to a directory that contains it is an error that names it", async () => {
  symlinkSync("..", join(folder, "ckpt-9", "up"));
  await expect(uploaded()).rejects.toThrow(`${join(folder, "ckpt-9", "up")} is a link to a directory that contains it`);
});

async function hashOf(value: unknown): Promise<string> {
  const encoding = new FileEncoding(new LocalFileStore(join(root, "store")));
  const literal = encodeValue(t.file("txt", { hash: "content" }), value, encoding, rootPlace("o0"));
  await encoding.finish();
  return literal.hash;
}

async function* pieces(...texts: readonly string[]): AsyncIterable<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

test.each([
  ["a text", () => ({ content: "two words" })],
  ["bytes", () => ({ content: Buffer.from("two words") })],
  ["a stream that can be read once", () => ({ content: pieces("two ", "words") })],
  ["a stream of a file", (path: string) => ({ content: createReadStream(path) })],
  ["a local file", (path: string) => ({ path })],
  ["a file at an address", (path: string) => ({ uri: path })],
])("the content of %s is hashed for the cache", async (_name, source) => {
  const path = join(root, "words.txt");
  writeFileSync(path, "two words");
  expect(await hashOf(source(path))).toBe(createHash("sha256").update("two words").digest("base64url"));
});
