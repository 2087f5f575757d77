import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { pack } from "./archive.js";
import { KeptFile } from "./kept-file.js";

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

test("the digest of an equal archive is kept, and never that of another content, path, mode or zlib", () => {
  const root = mkdtempSync(join(tmpdir(), "flyte-ts-archive-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const kept = () => new KeptFile<string>(root, "archive.json");
  const place = join(root, ".flyte-ts", "archive.json");
  const file = { path: "a.mjs", content: Buffer.from("a") };
  const { digest } = pack([file], kept());
  // A wrong value shows that it is read.
  const text = readFileSync(place, "utf8");
  writeFileSync(place, text.replace(digest, "kept"));
  expect(pack([file], kept()).digest).toBe("kept");
  const others = [
    { ...file, content: Buffer.from("b") },
    { ...file, path: "b.mjs" },
    { ...file, executable: true },
  ];
  for (const other of others) {
    writeFileSync(place, text);
    expect(pack([other], kept()).digest).toBe(pack([other]).digest);
  }
  writeFileSync(place, text.replace(process.versions.zlib, "0.0.1").replace(digest, "kept"));
  const { bytes, digest: computed } = pack([file], kept());
  expect(computed).toBe(digest);
  expect(createHash("sha256").update(bytes).digest("hex")).toBe(digest);
});
