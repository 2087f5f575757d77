import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createStackDirs } from "./stack-dirs.js";
import { StackError } from "../stack-error.js";
import { stackPaths } from "./paths.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "data-folder-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function refusal(root: string): string {
  try {
    createStackDirs(stackPaths(root));
    return "";
  } catch (error) {
    return error instanceof StackError ? error.message : String(error);
  }
}
const make = (root: string) => createStackDirs(stackPaths(root));

test("the directories of a stack are created for its user only", () => {
  expect(make(join(folder, "a"))).toBeUndefined();
  expect(existsSync(join(folder, "a", "cluster"))).toBe(true);
});

test.each([
  ["a file", "file", /file cannot be used: it is a file, not a folder\. Choose another with --data DIR$/],
  ["below a file", "file/below", /below cannot be used: a part of its path is a file, not a folder\./],
  ["a folder below a file", "broken", /broken cannot be used: .*broken\/config is a file, not a folder/],
  ["too long for a socket", "x".repeat(80), /is \d+ characters too long for the sockets of tasks/],
])("%s is refused in one line", (_, name, message) => {
  writeFileSync(join(folder, "file"), "");
  mkdirSync(join(folder, "broken"));
  writeFileSync(join(folder, "broken", "config"), "");
  const refusalText = refusal(join(folder, name));
  expect(refusalText).toMatch(message);
  expect(refusalText).not.toContain("\n");
});

test("a path that is too long only for sockets of Python's multiprocessing causes a warning", () => {
  expect(make(join(folder, "y".repeat(20)))).toMatch(/multiprocessing/);
});

const NOBODY = 65_534;

/** Runs the work with another user's rights, which only root can. */
function asNobody(work: () => void): void {
  process.seteuid?.(NOBODY);
  try {
    work();
  } finally {
    process.seteuid?.(0);
  }
}

test.runIf(process.getuid?.() === 0)("a directory that is read-only or belongs to another user is refused in one line", () => {
  chmodSync(folder, 0o755);
  const root = join(folder, "data");
  mkdirSync(root);
  chmodSync(root, 0o777);
  asNobody(() => expect(() => make(root)).toThrow(/data belongs to another user \(uid 0\): choose another folder with --data$/));
  chownSync(root, NOBODY, NOBODY);
  chmodSync(root, 0o555);
  asNobody(() => expect(() => make(root)).toThrow(/data cannot be used: this user may not write to .*\/data\/config\. Choose another/));
});
