import { chmodSync, chownSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ensurePrivateDataDir, ensurePrivateDir } from "./private-dir.js";

const parent = () => mkdtempSync(join(tmpdir(), "flyte-ts-folders-"));
const modeOf = (path: string) => statSync(path).mode & 0o777;

test("a data directory is closed to other users, also one that an earlier version created open", () => {
  const [fresh, empty, used] = [join(parent(), "fresh"), join(parent(), "empty"), join(parent(), "used")];
  for (const folder of [empty, used]) {
    mkdirSync(folder);
    chmodSync(folder, 0o755);
  }
  writeFileSync(join(used, "stack.pid"), "1");
  for (const folder of [fresh, empty, used]) {
    ensurePrivateDataDir(folder, join(folder, "stack.pid"));
    expect(modeOf(folder)).toBe(0o700);
  }
});

test("a directory that other programs use keeps its mode", () => {
  const folder = parent();
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, "notes"), "");
  ensurePrivateDataDir(folder, join(folder, "stack.pid"));
  expect(modeOf(folder)).toBe(0o755);
});

test.skipIf(process.getuid?.() !== 0)("a directory of another user is refused", () => {
  const folder = parent();
  chownSync(folder, 65_534, 65_534);
  expect(() => ensurePrivateDir(folder)).toThrow(`${folder} belongs to another user (uid 65534)`);
});
