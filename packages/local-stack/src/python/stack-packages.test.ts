import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeWheel } from "@flyte-ts/testing";
import { afterAll, beforeAll, expect, test } from "vitest";
import { binDir, installPackages, listPackages, preparePython, type StackPython, uninstallPackages } from "./stack-packages.js";

let folder: string;
let shared: string;
let wheel: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "own-packages-"));
  shared = join(folder, "shared");
  execFileSync("python3", ["-m", "venv", shared]);
  writeFileSync(join(shared, "bin", "some-tool"), `#!${join(shared, "bin", "python")}\nimport sys\nprint(sys.prefix)\n`, { mode: 0o755 });
  wheel = writeWheel(folder, "tiny", "ANSWER = 42\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const stack = (name: string, rests = shared): StackPython => ({
  own: join(folder, name),
  shared: rests,
  signal: new AbortController().signal,
});
const answer = (python: StackPython) =>
  execFileSync(join(binDir(python), "python"), ["-c", "import tiny; print(tiny.ANSWER)"], { encoding: "utf8", stdio: "pipe" });
const quiet = { requirements: undefined, onInstall: () => undefined };

test("a stack uses the shared environment until it has packages of its own, which no other stack sees", async () => {
  const [one, other] = [stack("one"), stack("other")];
  await preparePython(one, quiet);
  expect(binDir(one)).toBe(join(shared, "bin"));
  await installPackages(one, [wheel]);
  expect(binDir(one)).toBe(join(one.own, "bin"));
  expect(answer(one)).toBe("42\n");
  expect(() => answer(other)).toThrow("No module named 'tiny'");
  const listed = await listPackages(one);
  expect(listed.own).toEqual(["tiny==1.0"]);
  expect(listed.shared.join(" ")).toContain("pip==");
  expect((await listPackages(other)).own).toEqual([]);
  // Scripts of the shared environment are run by the stack's Python, which finds its packages.
  expect(execFileSync(join(one.own, "bin", "some-tool"), { encoding: "utf8" })).toBe(`${one.own}\n`);
  await uninstallPackages(one, ["tiny"]);
  expect(() => answer(one)).toThrow("No module named 'tiny'");
});

test("a failed installation reports pip's last lines", async () => {
  await expect(installPackages(stack("failing"), ["--no-index", "no-such-package-of-ours"])).rejects.toThrow(
    /^pip install failed: [\s\S]*No matching distribution found for no-such-package-of-ours/,
  );
});

test("a requirements file is installed at the start, and again when it has changed", async () => {
  const python = stack("required");
  const requirements = join(folder, "requirements.txt");
  const installs: string[] = [];
  const settings = { requirements, onInstall: (text: string) => void installs.push(text) };
  await expect(preparePython(python, settings)).rejects.toThrow(`requirements file not found: ${requirements}`);
  writeFileSync(requirements, "");
  await preparePython(python, settings);
  expect(() => answer(python)).toThrow("No module named 'tiny'");
  writeFileSync(requirements, `${wheel}\n`);
  await preparePython(python, settings);
  expect(answer(python)).toBe("42\n");
  const before = installs.length;
  await preparePython(python, settings);
  expect(installs.length).toBe(before);
});

test("an environment based on an outdated shared one is rebuilt with its packages", async () => {
  const python = stack("kept");
  await installPackages(python, [wheel]);
  const newer = join(folder, "newer");
  cpSync(shared, newer, { recursive: true, verbatimSymlinks: true });
  await preparePython(stack("kept", newer), quiet);
  expect(answer(python)).toBe("42\n");
  expect(execFileSync(join(python.own, "bin", "python"), ["-c", "import sys; print(sys.path)"], { encoding: "utf8" })).toContain(newer);
});
