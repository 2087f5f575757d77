import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { repositoryRoot } from "../state/paths.js";
import { extraNames, installExtra } from "./extras.js";
import { pythonInstall } from "./install-command.js";
import type { StackPython } from "./stack-packages.js";

let folder: string;
let python: StackPython;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "extras-"));
  const shared = join(folder, "shared");
  execFileSync("python3", ["-m", "venv", shared]);
  python = { own: join(folder, "own"), shared, signal: new AbortController().signal };
});
afterAll(() => {
  delete process.env["PIP_NO_INDEX"];
  rmSync(folder, { recursive: true, force: true });
});

test("the extras are the requirements files beside the examples, of the same flytekit", () => {
  expect(extraNames().toSorted()).toEqual(["dask", "ray", "spark"]);
  const read = (path: string) => readFileSync(join(repositoryRoot, "examples", path), "utf8");
  const version = /^flytekit==(\S+)$/m.exec(read("python/requirements.txt"))?.[1];
  for (const name of extraNames()) expect(read(`plugins/requirements-${name}.txt`)).toContain(`flytekitplugins-${name}==${version}\n`);
});

test("an unknown extra is refused with the known ones", async () => {
  await expect(installExtra(python, "hive", () => undefined)).rejects.toThrow(/unknown extra "hive": there are .*spark/);
});

test("a failed installation names the command that repeats it", async () => {
  process.env["PIP_NO_INDEX"] = "1";
  const lines: string[] = [];
  await expect(installExtra(python, "dask", (line) => lines.push(line))).rejects.toThrow(
    /pip install failed[^]*npx flyte-ts python install --extra dask$/,
  );
  expect(lines).toEqual(["installing dask for this stack (once, some minutes)"]);
}, 120_000);

test("packages that are in either environment are not installed again", async () => {
  const packages = (environment: string) => join(environment, "lib", "python3", "site-packages");
  mkdirSync(join(packages(python.own), "flytekitplugins_dask-1.16.31.dist-info"), { recursive: true });
  const lines: string[] = [];
  const install = () => installExtra(python, "dask", (line) => lines.push(line)).catch(() => undefined);
  mkdirSync(join(packages(python.shared), "Dask-2026.8.0.dist-info"), { recursive: true });
  await install();
  expect(lines).toEqual([]);
  rmSync(join(packages(python.shared), "Dask-2026.8.0.dist-info"), { recursive: true });
  await install();
  expect(lines).toHaveLength(1);
}, 120_000);

test("the installer in a pod uses the cache, the home and pip's settings of the stack", () => {
  const { command, environment } = pythonInstall("/data", { PIP_INDEX_URL: "https://example.org", SECRET: "x", JAVA_HOME: "/jdk" });
  expect(command.slice(2)).toEqual(["python", "install", "--data", "/data", "--extra"]);
  expect(Object.keys(environment).toSorted()).toEqual(["FLYTE_TS_CACHE", "HOME", "JAVA_HOME", "PIP_INDEX_URL"]);
});
