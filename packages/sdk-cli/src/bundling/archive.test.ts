import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { pack } from "./archive.js";

const LONG = `node_modules/${"deep/".repeat(40)}ä.node`;
const files = [
  { path: "b.mjs", content: Buffer.from("b") },
  { path: "a.mjs", content: Buffer.alloc(513, "a") },
  { path: LONG, content: Buffer.from("native"), executable: true },
];

test("the archive depends on paths and contents alone", () => {
  const { bytes, digest } = pack(files);
  expect(pack(files.toReversed()).digest).toBe(digest);
  expect(pack([...files, { path: "c", content: new Uint8Array() }]).digest).not.toBe(digest);
  // No time, no name, no operating system in the header of gzip.
  expect([...bytes.subarray(0, 10)]).toEqual([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, expect.any(Number), 255]);
});

test("entries are sorted, begin at blocks and carry long paths in pax headers", () => {
  const tar = gunzipSync(pack(files).bytes);
  expect(tar.length % 512).toBe(0);
  const text = tar.toString("latin1");
  const places = ["a.mjs\0", "b.mjs\0", "path="].map((word) => text.indexOf(word));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  const record = Buffer.from(`path=${LONG}\n`);
  const at = tar.indexOf(record);
  const [length] =
    /(\d+) $/.exec(
      tar
        .subarray(at - 8, at)
        .toString("latin1")
        .replaceAll("\0", ""),
    ) ?? [];
  expect(Number(length)).toBe(record.length + String(length).length);
});
