import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlobStore, createBlobStore } from "@flyte-ts/blobstore";
import { createLogger } from "@flyte-ts/telemetry";
import type { WorkflowFormatError } from "@flyte-ts/workflow-crd";
import { sliceUri } from "@flyte-ts/workflow-crd/status";
import { afterAll, beforeAll, expect, it } from "vitest";
import { SliceStore } from "./slice-store.js";

let folder: string;
let blobs: BlobStore;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "slices-"));
  blobs = createBlobStore({});
});
afterAll(async () => {
  blobs.close();
  await rm(folder, { recursive: true });
});

const logger = createLogger({ service: "test", level: "silent" });
const pauses: number[] = [];
const storeOn = (over: Partial<BlobStore> = {}) =>
  new SliceStore({
    blobs: {
      get: (uri) => blobs.get(uri),
      put: (uri, bytes) => blobs.put(uri, bytes),
      deleteAll: (uris) => blobs.deleteAll(uris),
      list: (prefix) => blobs.list(prefix),
      ...over,
    },
    logger,
    sleep: async (ms) => void pauses.push(ms),
    random: () => 0,
  });
const slice = (prefix: string, name: string, ...ids: string[]) => ({
  uri: sliceUri(prefix, name),
  entries: ids.map((id) => ({ path: [id], status: { phase: 5 } })),
});
const reference = (prefix: string, key: string, name: string) => ({ key, name, uri: sliceUri(prefix, name) });

async function listed(prefix: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { uri } of blobs.list(`${prefix}/`)) names.push(uri.slice(prefix.length + 1));
  return names.sort();
}

it("reads the slices that it has written", async () => {
  const prefix = `file://${folder}/a`;
  const store = storeOn();
  expect(await store.write([slice(prefix, "0.1.x", "n0", "n1"), slice(prefix, "1.1.x", "n2")], () => true)).toBe(true);
  const read = await store.read([reference(prefix, "0", "0.1.x"), reference(prefix, "1", "1.1.x")]);
  expect(new Map(read.map(({ key, entries }) => [key, entries.length]))).toEqual(
    new Map([
      ["0", 2],
      ["1", 1],
    ]),
  );
});

it("retries a write with growing delays until it succeeds or is no longer needed", async () => {
  const prefix = `file://${folder}/b`;
  let failures = 3;
  const failing = storeOn({
    put: async (uri, bytes) => {
      if (failures-- > 0) throw new Error("away");
      return blobs.put(uri, bytes);
    },
  });
  pauses.length = 0;
  expect(await failing.write([slice(prefix, "0.1.x", "n0")], () => true)).toBe(true);
  expect(pauses).toEqual([50, 100, 200]);
  expect(await listed(prefix)).toEqual(["0.1.x"]);
  failures = Number.POSITIVE_INFINITY;
  let turns = 5;
  expect(await failing.write([slice(prefix, "1.1.x", "n0")], () => turns-- > 0)).toBe(false);
});

it("names a missing or corrupt slice", async () => {
  const prefix = `file://${folder}/c`;
  await blobs.put(sliceUri(prefix, "1.1.x"), Buffer.from("no slice"));
  const rejected = (key: string, name: string) =>
    storeOn()
      .read([reference(prefix, key, name)])
      .then(
        () => "",
        (error: WorkflowFormatError) => `${error.name} ${error.message}`,
      );
  expect(await rejected("7", "7.1.x")).toBe(`WorkflowFormatError status.slices.names.7: the blob ${prefix}/7.1.x does not exist`);
  expect(await rejected("1", "1.1.x")).toContain("WorkflowFormatError status.slices.names.1: is not a slice of a status");
});

it("deletes unneeded slices, and at the end all unreferenced ones", async () => {
  const prefix = `file://${folder}/d`;
  const store = storeOn();
  const names = ["0.1.x", "0.2.x", "0.3.y", "1.1.x"];
  await store.write(
    names.map((name) => slice(prefix, name, "n0")),
    () => true,
  );
  store.deleteObsolete({ obsoleteSlices: [sliceUri(prefix, "0.1.x")] });
  await expect.poll(() => listed(prefix)).toEqual(["0.2.x", "0.3.y", "1.1.x"]);
  store.deleteObsolete({ deleteOtherSlices: { prefix, keep: [sliceUri(prefix, "0.3.y")] } });
  await expect.poll(() => listed(prefix)).toEqual(["0.3.y"]);
});

it("deletes the obsolete slices of several writes in one request", async () => {
  const requests: (readonly string[])[] = [];
  const store = storeOn({ deleteAll: async (uris) => void requests.push(uris) });
  store.deleteObsolete({ obsoleteSlices: ["file:///a/0.1.x"] });
  store.deleteObsolete({ obsoleteSlices: ["file:///a/0.2.x", "file:///b/0.1.x"] });
  await expect.poll(() => requests).toEqual([["file:///a/0.1.x", "file:///a/0.2.x", "file:///b/0.1.x"]]);
  const many = Array.from({ length: 600 }, (_, index) => `file:///c/${index}`);
  store.deleteObsolete({ obsoleteSlices: many });
  await expect.poll(() => requests.slice(1).flat()).toEqual(many);
  expect(Math.max(...requests.map((uris) => uris.length))).toBe(250);
});

it("goes on with deletions after one that failed", async () => {
  const requests: (readonly string[])[] = [];
  const store = storeOn({
    deleteAll: async (uris) => {
      requests.push(uris);
      if (requests.length === 1) throw new Error("away");
    },
  });
  store.deleteObsolete({ obsoleteSlices: ["file:///a/0.1.x"] });
  await expect.poll(() => requests.length).toBe(1);
  store.deleteObsolete({ obsoleteSlices: ["file:///a/0.2.x"] });
  await expect.poll(() => requests).toEqual([["file:///a/0.1.x"], ["file:///a/0.2.x"]]);
});

it("deletes slices, and no data of nodes below the same prefix", async () => {
  const prefix = `file://${folder}/swept/status`;
  const store = storeOn();
  await store.write([slice(prefix, "0.1.n", "a"), slice(prefix, "1.1.n", "b")], () => true);
  await blobs.put(`${prefix}/data/0/outputs.pb`, new Uint8Array([1]));
  await store.deleteAllExcept({ prefix, keep: [sliceUri(prefix, "1.1.n")] });
  const left = async () => {
    const uris: string[] = [];
    for await (const { uri } of blobs.list(`${prefix}/`)) uris.push(uri.slice(prefix.length + 1));
    return uris.sort();
  };
  await expect.poll(left).toEqual(["1.1.n", "data/0/outputs.pb"]);
  await store.deleteAllExcept({ prefix, keep: [] });
  await expect.poll(left).toEqual(["data/0/outputs.pb"]);
});
