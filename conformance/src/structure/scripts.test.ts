import { spawnSync } from "node:child_process";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

function run(script: string, ...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, "scripts", script), ...args], { encoding: "utf8" });
  return { status, output: `${stdout}${stderr}` };
}

test("imports go in the directions that the architecture allows", () => {
  expect(run("check-imports.mjs")).toEqual({ status: 0, output: "" });
});

test("names say something, and files stay readable", () => {
  expect(run("check-names.mjs")).toEqual({ status: 0, output: "" });
});

test("the generated types are those of the IDL", () => {
  expect(run("generate.mjs", "--check")).toMatchObject({ status: 0 });
}, 240_000);
