import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../repository.js";

interface Selection {
  changedFiles(root: string, ref?: string): string[];
  selectTests(root: string, changed: readonly string[]): string[];
}
interface Arguments {
  parseTestArgs(args: readonly string[]): object;
}

const { changedFiles, selectTests }: Selection = await import(join(root, "scripts", "test", "changed-tests.mjs"));
const { parseTestArgs }: Arguments = await import(join(root, "scripts", "test", "arguments.mjs"));

const manifest = (name: string) => JSON.stringify({ name: `@x/${name}`, exports: { ".": { source: "./src/index.ts" } } });
const FILES: Readonly<Record<string, string>> = {
  "package.json": JSON.stringify({ workspaces: ["packages/*", "services/server", "conformance"] }),
  "docs/guide.txt": "",
  "packages/base/package.json": manifest("base"),
  "packages/base/src/index.ts": 'export { used } from "./used.js";',
  "packages/base/src/used.ts": "export const used = 1;",
  "packages/base/src/used.test.ts": 'import { used } from "./used.js";',
  "packages/base/src/internal.ts": "export const internal = 1;",
  "packages/base/src/internal.test.ts": 'import { internal } from "./internal.js";',
  "packages/apart/package.json": manifest("apart"),
  "packages/apart/src/index.ts": "export const apart = 1;",
  "packages/apart/src/apart.test.ts": 'import { apart } from "./index.js";',
  "services/server/package.json": manifest("server"),
  "services/server/migrations/1.sql": "",
  "services/server/src/main.ts": 'import { used } from "@x/base";',
  "services/server/src/main.test.ts": 'import "./main.js";',
  "conformance/package.json": manifest("conformance"),
  "conformance/src/stack.ts": 'import { spawn } from "node:child_process";',
  "conformance/src/stack.test.ts": 'import "./stack.js";',
  "conformance/src/guide.test.ts": 'import { readFileSync } from "node:fs"; readFileSync("docs/guide.txt");',
  "conformance/src/structure/links.test.ts": "",
};
const STRUCTURE = "conformance/src/structure/links.test.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-changed-"));
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  git("init", "--quiet", "--initial-branch=main");
  git("add", ".");
  git("commit", "--quiet", "--message=first");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function git(...args: string[]): void {
  const identity = ["-c", "user.name=test", "-c", "user.email=test@example.com"];
  execFileSync("git", [...identity, ...args], { cwd: folder });
}

test.each([
  ["a module that only its own test imports", "packages/base/src/internal.ts", ["packages/base/src/internal.test.ts"]],
  [
    "a module that other packages import",
    "packages/base/src/used.ts",
    ["conformance/src/stack.test.ts", "packages/base/src/used.test.ts", "services/server/src/main.test.ts"],
  ],
  ["a test", "packages/apart/src/apart.test.ts", ["packages/apart/src/apart.test.ts"]],
  ["a migration of a service", "services/server/migrations/1.sql", ["conformance/src/stack.test.ts", "services/server/src/main.test.ts"]],
  ["a document", "docs/guide.txt", ["conformance/src/guide.test.ts"]],
  ["a README of a package", "packages/base/README.md", []],
])("a change of %s selects the tests that it can break, and those of the structure", (_, file, tests) => {
  expect(selectTests(folder, [file])).toEqual([...tests, STRUCTURE].sort());
});

test("a change of the lock file selects every test", () => {
  expect(selectTests(folder, ["package-lock.json"])).toEqual(
    Object.keys(FILES)
      .filter((file) => file.endsWith(".test.ts"))
      .sort(),
  );
});

test("changed files are the uncommitted and new ones, or all since a branch left another", () => {
  git("switch", "--quiet", "--create=feature");
  writeFileSync(join(folder, "docs/guide.txt"), "committed");
  git("commit", "--quiet", "--all", "--message=second");
  writeFileSync(join(folder, "docs/new.txt"), "");
  expect(changedFiles(folder)).toEqual(["docs/new.txt"]);
  expect(changedFiles(folder, "main")).toEqual(["docs/guide.txt", "docs/new.txt"]);
});

test.each([
  [["--changed", "main", "-t", "x"], { changed: { ref: "main" }, updateDurations: false, vitestArgs: ["-t", "x"] }],
  [["--changed"], { changed: {}, updateDurations: false, vitestArgs: [] }],
  [["--changed", "-t", "x"], { changed: {}, updateDurations: false, vitestArgs: ["-t", "x"] }],
  [["services", "--update-durations"], { updateDurations: true, vitestArgs: ["services"] }],
])("the arguments %j are parsed", (args, parsed) => {
  expect(parseTestArgs(args)).toEqual(parsed);
});
