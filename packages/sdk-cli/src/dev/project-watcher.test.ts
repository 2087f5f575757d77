import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ProjectWatcher } from "./project-watcher.js";

let root: string;
let watcher: ProjectWatcher;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "flyte-ts-watch-"));
  for (const folder of ["src", "node_modules", ".flyte-ts"]) mkdirSync(join(root, folder));
  watcher = new ProjectWatcher(root);
});
afterEach(() => {
  watcher.close();
  rmSync(root, { recursive: true });
});

const write = (path: string): void => writeFileSync(join(root, path), "x");

test("a saved module is reported, also one that replaces another", async () => {
  write("src/a.ts");
  expect(await watcher.changes()).toEqual(["src/a.ts"]);
  write("src/a.ts.new");
  renameSync(join(root, "src/a.ts.new"), join(root, "src/a.ts"));
  expect(await watcher.changes()).toContain("src/a.ts");
});

test("files of packages, hidden ones, and other files at the root are left out", async () => {
  for (const path of ["node_modules/a.ts", ".flyte-ts/b.ts", "outputs.json", "src/.hidden.ts", "src/notes.txt"]) write(path);
  write("tsconfig.json");
  expect(await watcher.changes()).toEqual(["tsconfig.json"]);
});

test("files of a new folder are reported", async () => {
  mkdirSync(join(root, "src", "new"));
  write("src/new/b.ts");
  // One of the two, by whether the file was there when the folder was seen.
  expect(["src/new", "src/new/b.ts"]).toEqual(expect.arrayContaining([...(await watcher.changes())]));
  write("src/new/c.ts");
  expect(await watcher.changes()).toContain("src/new/c.ts");
});
