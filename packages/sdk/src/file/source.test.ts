import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { FileEncoding } from "../codec/encoding.js";
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
