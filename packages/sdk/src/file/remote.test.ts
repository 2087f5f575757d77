import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { rootPlace } from "../codec/place.js";
import { t } from "../type/t.js";
import { RemoteDataset } from "./dataset.js";
import type { FileStore } from "./file.js";
import { LocalFileStore } from "./local-store.js";
import { writeParquet } from "./parquet.js";
import { RemoteDirectory } from "./remote.js";

const FOLDER = "s3://bucket/folder";
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "flyte-ts-remote-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** A store with these objects, which are listed in the order of their keys. */
function storeOf(objects: Readonly<Record<string, Uint8Array>>): FileStore {
  const local = new LocalFileStore(root);
  return {
    allocate: (name) => local.allocate(name),
    scratch: (name) => local.scratch(name),
    write: (uri, content) => local.write(uri, content),
    read: async function* (uri) {
      yield objects[uri] ?? Buffer.from(`${uri} does not exist`);
    },
    list: async function* (uri) {
      yield* Object.keys(objects).filter((key) => key.startsWith(`${uri.replace(/\/$/, "")}/`));
    },
  };
}

async function urisOf(directory: RemoteDirectory): Promise<string[]> {
  const uris: string[] = [];
  for await (const { uri } of directory.list()) uris.push(uri);
  return uris;
}

test("a directory is read without the objects that mark folders", async () => {
  const none = new Uint8Array();
  const content = Buffer.from("content");
  const files = storeOf({ [`${FOLDER}/`]: none, [`${FOLDER}/a/`]: none, [`${FOLDER}/a/b`]: content, [`${FOLDER}/c/`]: none });
  const directory = new RemoteDirectory(FOLDER, files);
  const path = await directory.path();
  expect(readdirSync(path, { recursive: true, encoding: "utf8" })).toEqual(["a", "a/b"]);
  expect(readFileSync(join(path, "a", "b"), "utf8")).toBe("content");
  expect(await urisOf(directory)).toEqual([`${FOLDER}/a/b`]);
});

test.each([
  ["a path", (path: string) => path],
  ["a path with a slash at its end", (path: string) => `${path}/`],
  ["a URL", (path: string) => pathToFileURL(path).href],
])("a local directory at %s keeps the names of its files", async (_name, addressOf) => {
  const folder = join(root, "given");
  mkdirSync(join(folder, "of two words"), { recursive: true });
  for (const name of ["of two words/ä", "a#1"]) writeFileSync(join(folder, name), name);
  const directory = new RemoteDirectory(addressOf(folder), new LocalFileStore(root));
  expect(readFileSync(join(await directory.path(), "of two words", "ä"), "utf8")).toBe("of two words/ä");
  const texts: string[] = [];
  for await (const file of directory.list()) texts.push(await file.text());
  expect(texts.toSorted()).toEqual(["a#1", "of two words/ä"]);
});

test("a data set of Spark is read without its markers and hidden files", async () => {
  const columns = { id: t.int };
  const part = (id: number) => writeParquet(columns, [{ id }], rootPlace("o0"));
  const text = Buffer.from("no Parquet");
  const files = storeOf({
    [`${FOLDER}/`]: text,
    [`${FOLDER}/.part-0.crc`]: text,
    [`${FOLDER}/_SUCCESS`]: text,
    [`${FOLDER}/_temporary/0/part-9`]: text,
    [`${FOLDER}/_day=1/part-0`]: await part(3),
    [`${FOLDER}/part-1`]: await part(2),
    [`${FOLDER}/part-0`]: await part(1),
  });
  const rows: unknown[] = [];
  for await (const row of new RemoteDataset({ uri: FOLDER, format: "parquet", columns, files }).rows()) rows.push(row);
  expect(rows).toEqual([{ id: 3 }, { id: 1 }, { id: 2 }]);
});

test("a data set without parts has no rows", async () => {
  const files = storeOf({ [`${FOLDER}/_SUCCESS`]: new Uint8Array() });
  const rows: unknown[] = [];
  for await (const row of new RemoteDataset({ uri: FOLDER, format: "parquet", columns: {}, files }).rows()) rows.push(row);
  expect(rows).toEqual([]);
});
