import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { root } from "../repository.js";

const docs = join(root, "docs/typescript");
const project = join(root, "examples/typescript");
let folder: string;
const samples = readdirSync(docs).flatMap((page) =>
  [...readFileSync(join(docs, page), "utf8").matchAll(/```ts\n(.*?)```/gs)].map(([, code = ""], i) => ({ file: `${page}-${i}.ts`, code })),
);

beforeAll(() => {
  folder = mkdtempSync(join(project, "src", ".docs-"));
  for (const { file, code } of samples) writeFileSync(join(folder, file), code);
  symlinkSync(join("..", "flows"), join(folder, "flows"));
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: "../../tsconfig.json", include: ["*.ts"] }));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("samples of the documentation compile", () => {
  expect(samples.length).toBeGreaterThanOrEqual(5);
  const { stdout } = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder], { encoding: "utf8" });
  expect(stdout).toBe("");
});

test("the tests of the documentation pass", () => {
  const file = join(folder, "testing.md-0.ts");
  const { status, stdout } = spawnSync(process.execPath, ["--experimental-strip-types", "--test", file], { encoding: "utf8" });
  expect(stdout).toContain("pass 3");
  expect(status).toBe(0);
});
