import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { fileBlobs } from "../blob/file-blobs.js";
import { fetchBundle } from "./bundle-cache.js";
import { type TarEntry, tarOf } from "./tar.fixture.js";

let folder: string;
let root: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-bundle-"));
  root = mkdtempSync(join(folder, "cache-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes a bundle; returns its address. */
function bundle(entries: readonly TarEntry[]) {
  const archive = gzipSync(tarOf(entries));
  const uri = join(folder, "bundle.tar.gz");
  writeFileSync(uri, archive);
  return { uri, digest: createHash("sha256").update(archive).digest("hex") };
}

test("a bundle is fetched once and then found by its digest", async () => {
  const address = bundle([{ path: "chunks/a.mjs", content: "export {};" }]);
  const unpacked = await fetchBundle(fileBlobs, address, root);
  expect(readFileSync(join(unpacked, "chunks/a.mjs"), "utf8")).toBe("export {};");
  rmSync(address.uri);
  expect(await fetchBundle(fileBlobs, address, root)).toBe(unpacked);
});

test("processes that fetch a bundle at the same time share one folder", async () => {
  const address = bundle([{ path: "a.mjs", content: "1" }]);
  const folders = await Promise.all(Array.from({ length: 8 }, () => fetchBundle(fileBlobs, address, root)));
  expect(new Set(folders).size).toBe(1);
  expect(readdirSync(root)).toEqual([address.digest]);
});

test("a bundle with another digest is not unpacked", async () => {
  const { uri } = bundle([{ path: "a.mjs", content: "changed" }]);
  const failure = await fetchBundle(fileBlobs, { uri, digest: "0".repeat(64) }, root).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    message: expect.stringContaining(`not ${"0".repeat(64)} as registered`),
    errorClass: { origin: "system" },
  });
  expect(readdirSync(root)).toEqual([]);
});

test("a bundle whose paths leave its folder writes nothing", async () => {
  const address = bundle([
    { path: "fine.mjs", content: "1" },
    { path: "../escaped.mjs", content: "2" },
  ]);
  await expect(fetchBundle(fileBlobs, address, root)).rejects.toThrow("does not stay below");
  expect([readdirSync(root), existsSync(join(folder, "escaped.mjs"))]).toEqual([[], false]);
});

test("a missing bundle says what to do", async () => {
  const address = { uri: join(folder, "none.tar.gz"), digest: "0".repeat(64) };
  await expect(fetchBundle(fileBlobs, address, root)).rejects.toThrow("register the project again");
});
