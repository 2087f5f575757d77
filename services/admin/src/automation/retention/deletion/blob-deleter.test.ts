import { expect, test } from "vitest";
import { BlobDeleter } from "./blob-deleter.js";

function recording(blobsPerSecond: number, refused = "") {
  const requests: (readonly string[])[] = [];
  const batches: number[] = [];
  const slept: number[] = [];
  const deleter = new BlobDeleter({
    blobs: {
      deleteAll: (uris) => {
        requests.push(uris);
        return uris.includes(refused) ? Promise.reject(new Error(`${refused} is locked`)) : Promise.resolve();
      },
    },
    blobsPerSecond,
    gather: () => Promise.resolve(),
    sleep: (ms) => {
      slept.push(ms);
      return Promise.resolve();
    },
    onBatch: (count) => batches.push(count),
  });
  return { deleter, requests, batches, slept };
}

const blobs = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

test("blobs of concurrent deletions share a request, and the rate counts the listed ones", async () => {
  const { deleter, requests, batches, slept } = recording(100);
  await Promise.all([
    deleter.delete({ listed: ["a", "b"], possible: ["c"] }),
    deleter.delete({ listed: ["d"], possible: ["e", "f"] }),
    deleter.delete({ listed: [], possible: ["g"] }),
  ]);
  expect(requests).toEqual([["a", "b", "c", "d", "e", "f", "g"]]);
  expect([batches, slept]).toEqual([[3], [30]]);
});

test("a request has at most a thousand blobs, and those of ten seconds with a low rate", async () => {
  const fast = recording(1e6);
  expect(fast.deleter.maxChunk).toBe(1_000);
  await Promise.all(["a", "b", "c"].map((prefix) => fast.deleter.delete({ listed: blobs(prefix, 400), possible: [] })));
  expect(fast.batches).toEqual([800, 400]);
  const slow = recording(0.5);
  expect(slow.deleter.maxChunk).toBe(5);
  await Promise.all(["a", "b"].map((prefix) => slow.deleter.delete({ listed: blobs(prefix, 3), possible: [] })));
  expect([slow.batches, slow.slept]).toEqual([
    [3, 3],
    [6_000, 6_000],
  ]);
});

test("a request that fails is repeated for each deletion, and counts only what was deleted", async () => {
  const { deleter, batches } = recording(1e6, "b");
  const results = await Promise.allSettled(["a", "b", "c"].map((uri) => deleter.delete({ listed: [uri], possible: [] })));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(batches).toEqual([1, 1]);
});
