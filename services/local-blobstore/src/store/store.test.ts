import { mkdtempSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DirectoryCache } from "./directory-cache.js";
import { compareKeys } from "./key-path.js";
import { Store } from "./store.js";
import { listKeys, sortText } from "./list-keys.js";

const newFolder = () => mkdtempSync(join(tmpdir(), "store-"));
const info = { etag: "0", headers: {}, metadata: {} };

async function put(store: Store, key: string, content = key): Promise<void> {
  const stage = store.stageUpload();
  await stage.write(Buffer.from(content));
  await store.commit({ bucket: "bucket", key }, { stageUpload: stage, info, conditions: {} });
}

async function read(store: Store, key: string): Promise<string> {
  const object = await store.open("bucket", key);
  await object.handle.close();
  return String(object.content);
}

async function listed(
  store: Store,
  options: { prefix?: string; after?: string; skip?: string; delimiter?: string } = {},
): Promise<string[]> {
  const found: string[] = [];
  for await (const item of store.list("bucket", { prefix: "", after: "", skip: "", delimiter: "", ...options })) found.push(sortText(item));
  return found;
}

async function open(folder = newFolder()): Promise<Store> {
  const store = await Store.open(folder);
  await store.createBucket("bucket");
  return store;
}

/** Specifies the expected listing of S3. */
function expected(keys: readonly string[], { prefix, delimiter, after }: { prefix: string; delimiter: string; after: string }): string[] {
  const found = new Set<string>();
  for (const key of keys.toSorted(compareKeys)) {
    if (!key.startsWith(prefix) || compareKeys(key, after) <= 0) continue;
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    found.add(end < 0 ? key : key.slice(0, end + delimiter.length));
  }
  return [...found];
}

test("listings equal their specification for any keys, prefix, delimiter and start", async () => {
  const part = fc.constantFrom("a", "b", "ab", "", ".", "..", "~", "é", "\u{1f600}", "\uffff", "a b", "L".repeat(260), "-", "0");
  const text = fc.array(part, { maxLength: 4 }).map((parts) => parts.join("/"));
  const key = text.filter((each) => each !== "");
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 12 }),
      fc.array(fc.tuple(text, fc.constantFrom("", "/", "b", "/a", "é"), text), { maxLength: 8 }),
      async (keys, queries) => {
        const store = await open();
        for (const each of keys) await put(store, each);
        for (const [prefix, delimiter, after] of queries)
          expect(await listed(store, { prefix, delimiter, after })).toEqual(expected(keys, { prefix, delimiter, after }));
        for (const each of keys) expect(await read(store, each)).toBe(each);
        for (const each of keys.slice(0, 6)) await store.delete("bucket", each);
        expect(await listed(store)).toEqual(expected(keys.slice(6), { prefix: "", delimiter: "", after: "" }));
      },
    ),
    { numRuns: 40 },
  );
});

test("a listing continues after a common prefix", async () => {
  const store = await open();
  for (const key of ["a", "b/1", "b/2", "b0", "c/1"]) await put(store, key);
  expect(await listed(store, { delimiter: "/" })).toEqual(["a", "b/", "b0", "c/"]);
  expect(await listed(store, { delimiter: "/", after: "b/", skip: "b/" })).toEqual(["b0", "c/"]);
});

test("objects survive a restart, and incomplete files are deleted", async () => {
  const folder = newFolder();
  const first = await open(folder);
  await put(first, "kept/ä", "content");
  const stage = first.stageUpload();
  await stage.write(Buffer.alloc(300_000));
  expect(readdirSync(join(folder, "tmp"))).toHaveLength(1);
  const second = await Store.open(folder);
  expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  expect(await read(second, "kept/ä")).toBe("content");
  expect(await second.createBucket("bucket")).toBe(false);
  await stage.discard();
});

test("a corrupt or foreign file is reported and does not hide others", async () => {
  const folder = newFolder();
  const store = await open(folder);
  await put(store, "good");
  await put(store, "cut");
  truncateSync(join(folder, "buckets/bucket/cut~"), 5);
  writeFileSync(join(folder, "buckets/bucket/strange~"), "not an object of ours");
  writeFileSync(join(folder, "buckets/bucket/€uro"), "");
  await expect(store.open("bucket", "cut")).rejects.toMatchObject({ code: "InternalError" });
  await expect(store.open("bucket", "strange")).rejects.toMatchObject({ code: "InternalError" });
  expect(await read(store, "good")).toBe("good");
  await put(store, "cut", "mended");
  expect(await read(store, "cut")).toBe("mended");
});

test("large metadata and large content are returned unchanged", async () => {
  const store = await open();
  const stage = store.stageUpload();
  const content = Buffer.alloc(1_000_000, "x");
  for (let at = 0; at < content.length; at += 70_000) await stage.write(content.subarray(at, at + 70_000));
  const big = { etag: "e", headers: {}, metadata: { note: "n".repeat(30_000) } };
  await store.commit({ bucket: "bucket", key: "big" }, { stageUpload: stage, info: big, conditions: {} });
  const object = await store.open("bucket", "big");
  const read = await object.handle.readFile();
  await object.handle.close();
  expect(object.info).toEqual(big);
  expect(object.size).toBe(content.length);
  expect(read.subarray(0, content.length).equals(content)).toBe(true);
});

test("concurrent writers and deleters of keys in one folder do not disturb each other", async () => {
  const store = await open();
  // Few keys, so that objects are often the last of their directory.
  for (const keys of [1, 2, 7]) {
    const work = Array.from({ length: 200 }, async (_, i) => {
      const key = `f/g/h/${i % keys}`;
      if (i % 2 === 0) await store.delete("bucket", key);
      else await put(store, key, String(i));
    });
    await Promise.all(work);
  }
  await put(store, "f/g/last");
  for (const key of await listed(store)) expect(await read(store, key)).toMatch(/^(\d+|f\/g\/last)$/);
});

test("exactly one of several concurrent writers with ifAbsent writes", async () => {
  const store = await open();
  const results = await Promise.allSettled(
    Array.from({ length: 10 }, async (_, i) => {
      const stage = store.stageUpload();
      await stage.write(Buffer.from(String(i)));
      try {
        await store.commit({ bucket: "bucket", key: "k" }, { stageUpload: stage, info, conditions: { ifNoneMatch: true } });
        return i;
      } finally {
        await stage.discard();
      }
    }),
  );
  const written = results.filter((result) => result.status === "fulfilled");
  expect(written).toHaveLength(1);
  expect(await read(store, "k")).toBe(String(written[0]?.value));
});

test.each(["..", "a", "A-b", "a/b", ".a", "a..b", "a_b", "x".repeat(64)])("%s is not a bucket name", async (name) => {
  const store = await open();
  await expect(store.createBucket(name)).rejects.toMatchObject({ code: "InvalidBucketName" });
});

test("a listing below a folder does not read the folders above it", async () => {
  const folder = newFolder();
  const store = await open(folder);
  for (const key of ["data/ab/x/1", "data/ab/y/2", "data/cd/3"]) await put(store, key);
  const read: string[] = [];
  const entries = new DirectoryCache();
  const recording = Object.assign(new DirectoryCache(), {
    read: (path: string) => {
      read.push(path);
      return entries.read(path);
    },
  });
  const options = { folder, entries: recording, rules: { foldsCase: false }, hashed: false, after: "", skip: "", delimiter: "" };
  const found: string[] = [];
  for await (const item of listKeys({ ...options, folder: join(folder, "buckets", "bucket"), prefix: "data/ab/x/" }))
    found.push(sortText(item));
  expect(found).toEqual(["data/ab/x/1"]);
  expect(read).toEqual([join(folder, "buckets", "bucket", "data", "ab", "x")]);
});

test("keys that do not fit into file names are listed after a restart", async () => {
  const folder = newFolder();
  const key = `${"L".repeat(260)}/a`;
  await put(await open(folder), key);
  const store = await Store.open(folder);
  expect(await listed(store)).toEqual([key]);
});
