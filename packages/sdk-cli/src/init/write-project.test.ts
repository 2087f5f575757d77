import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { SDK_VERSION } from "../own-package.js";
import { writeProject } from "./write-project.js";

const settings = { project: 'a "b"', domain: "staging" };
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-init-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = (path: string): string => readFileSync(join(folder, path), "utf8");
const write = (path: string, text: string): void => writeFileSync(join(folder, path), text);

test("a new folder receives a project with its settings", () => {
  const files = writeProject(join(folder, "made", "here"), settings);
  expect(files.every(({ action }) => action === "created")).toBe(true);
  expect(read("made/here/flyte.config.ts")).toContain('project: "a \\"b\\"",\n  domain: "staging",');
  expect(JSON.parse(read("made/here/package.json"))).toMatchObject({
    type: "module",
    dependencies: { "@flyte-ts/sdk": SDK_VERSION },
    devDependencies: { "@flyte-ts/cli": SDK_VERSION },
  });
  expect(files.map(({ path }) => path)).toContain(".gitignore");
});

test("files that exist stay as they are", () => {
  write("tsconfig.json", "{}");
  write(".gitignore", "mine");
  const files = writeProject(folder, settings);
  expect(files.filter(({ action }) => action === "kept").map(({ path }) => path)).toEqual(["tsconfig.json", ".gitignore"]);
  expect([read("tsconfig.json"), read(".gitignore")]).toEqual(["{}", "mine"]);
  const again = writeProject(folder, settings);
  expect(again.filter(({ action }) => action !== "kept")).toEqual([]);
});

test("package.json receives what it lacks, and keeps what it has", () => {
  const known = {
    name: "mine",
    scripts: { test: 'echo "Error: no test specified" && exit 1', check: "own" },
    dependencies: { "@flyte-ts/sdk": "file:../sdk.tgz", typescript: "5.9.3" },
  };
  write("package.json", JSON.stringify(known));
  expect(writeProject(folder, settings)[0]).toEqual({ path: "package.json", action: "extended" });
  const { name, scripts, dependencies, devDependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
  expect(name).toBe("mine");
  expect(scripts).toMatchObject({ test: expect.stringContaining("--test"), check: "own", dev: "flyte-ts dev" });
  expect(dependencies).toMatchObject({ "@flyte-ts/sdk": "file:../sdk.tgz", "@flyte-ts/runtime": SDK_VERSION, typescript: "5.9.3" });
  expect(Object.keys(devDependencies ?? {})).toEqual(["@flyte-ts/cli", "@types/node"]);
});

test.each([
  ['{ "type": "commonjs" }', 'set "type": "module"'],
  ["{", "package.json is no JSON"],
])("a package.json with %s is refused before anything is written", (text, message) => {
  write("package.json", text);
  expect(() => writeProject(folder, settings)).toThrow(message);
  expect(readdirSync(folder)).toEqual(["package.json"]);
});

test("a file in the place of a folder, and a folder in that of a file, are refused", () => {
  write("src", "");
  expect(() => writeProject(folder, settings)).toThrow(`${join(folder, "src")} is a file`);
  rmSync(join(folder, "src"));
  mkdirSync(join(folder, "flyte.config.ts"));
  expect(() => writeProject(folder, settings)).toThrow("is a folder; init writes a file there");
  expect(readdirSync(folder)).toEqual(["flyte.config.ts"]);
});
