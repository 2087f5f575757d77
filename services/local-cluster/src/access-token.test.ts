import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readOrCreateToken } from "./access-token.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kept-token-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("a token is kept across restarts and readable by its owner only", () => {
  const file = join(folder, "token");
  const token = readOrCreateToken(file);
  expect(token).toMatch(/^[0-9a-f]{48}$/);
  expect(readOrCreateToken(file)).toBe(token);
  expect([statSync(file).mode & 0o777, readdirSync(folder)]).toEqual([0o600, ["token"]]);
});

test.each(["", "\n", "abc", "\0".repeat(10)])("a token file that is damaged by a power cut (%j) is replaced", (left) => {
  const file = join(folder, "token");
  writeFileSync(file, left);
  const token = readOrCreateToken(file);
  expect(token).toMatch(/^[0-9a-f]{48}$/);
  expect(readOrCreateToken(file)).toBe(token);
});
