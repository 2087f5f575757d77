import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Project } from "../project/project.js";
import { buildModules } from "./build-modules.js";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "flyte-ts-build-"));
  writeFileSync(join(root, "package.json"), '{ "name": "project", "type": "module" }');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Bundles a project of one module. */
function build(source: string, externals: readonly string[] = []) {
  const file = join(root, "flow.ts");
  writeFileSync(file, source);
  const project: Project = {
    root,
    project: "flytesnacks",
    domain: "development",
    endpoint: "localhost:1",
    sources: ["*.ts"],
    image: "image",
    externals,
    externalsFrom: "image",
  };
  return buildModules(project, [{ file, module: "flow", prefix: "flow" }], "local");
}

test("an import that is not found is reported with its position", async () => {
  const source = '\nimport left from "left-pad/lib";\nexport const x = left("x");\n';
  await expect(build(source)).rejects.toThrow(/^flow.ts:2 imports left-pad\/lib, which is not found: npm install left-pad$/);
});

test("an external package that is not installed is reported by name", async () => {
  const source = 'import left from "left-pad";\nexport const x = left("x");\n';
  await expect(build(source, ["left-pad"])).rejects.toThrow("the external package left-pad is not installed: npm install left-pad");
});

test("modules of Node.js, and packages that an installed package may do without, are no errors", async () => {
  const folder = join(root, "node_modules", "patient");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "name": "patient", "version": "1.0.0", "main": "index.js" }');
  writeFileSync(join(folder, "index.js"), 'let fast; try { fast = require("not-installed"); } catch {}\nmodule.exports = () => fast;\n');
  const { files } = await build('import patient from "patient";\nimport fs from "fs";\nexport const x = patient(fs.constants);\n');
  expect(files.map(({ path }) => path)).toContain("entry.mjs");
});
