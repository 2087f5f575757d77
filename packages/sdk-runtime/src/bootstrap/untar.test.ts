import { expect, test } from "vitest";
import { tarOf } from "./tar.fixture.js";
import { readTar } from "./untar.js";

const files = (archive: Uint8Array) =>
  readTar(archive).map(({ path, content, executable }) => [path, Buffer.from(content).toString(), executable]);

test("files, their contents and whether they are programs are read; folders are implied", () => {
  const archive = tarOf([
    { path: "chunks/", type: "5" },
    { path: "chunks/a.mjs", content: "export const a = 1;" },
    { path: "bin/tool", content: "#!", mode: 0o755 },
    { path: "empty" },
  ]);
  expect(files(archive)).toEqual([
    ["chunks/a.mjs", "export const a = 1;", false],
    ["bin/tool", "#!", true],
    ["empty", "", false],
  ]);
});

test("a pax header names a long path", () => {
  const path = `node_modules/${"long/".repeat(60)}file.node`;
  const record = ` path=${path}\n`;
  const length = record.length + String(record.length + 3).length;
  const archive = tarOf([
    { path: "pax", type: "x", content: `${length}${record}` },
    { path: "short", content: "x" },
  ]);
  expect(files(archive)).toEqual([[path, "x", false]]);
});

test.each(["../escaped", "/etc/passwd", "a/../../b", "a//b", "./a", "C:/a", "a\\..\\b", ""])("the path %j is refused", (path) => {
  expect(() => readTar(tarOf([{ path, content: "x" }]))).toThrow("does not stay below");
});

test.each([
  ["a symbolic link", "2"],
  ["a hard link", "1"],
  ["a device", "3"],
])("%s is refused", (_name, type) => {
  expect(() => readTar(tarOf([{ path: "link", type }]))).toThrow("is no file");
});

test("an archive that is damaged, cut or names a file twice is refused", () => {
  const archive = tarOf([{ path: "a", content: "content" }]);
  expect(() => readTar(archive.subarray(0, 515))).toThrow("truncated");
  expect(() => readTar(archive.subarray(0, 1024))).toThrow("no end");
  const changed = Buffer.from(archive);
  changed.write("b", 0);
  expect(() => readTar(changed)).toThrow("wrong checksum");
  expect(() => readTar(tarOf([{ path: "a" }, { path: "a" }]))).toThrow("twice");
});
