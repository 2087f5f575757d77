import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NATS_WHEELS } from "./nats/nats-wheels.js";
import { withWheel } from "./python-wheel.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "wheel-"));
  mkdirSync(join(folder, "bin"));
  vi.stubEnv("PATH", `${join(folder, "bin")}${delimiter}${process.env.PATH}`);
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** Writes a program with this shell script. */
function program(path: string, script: string): void {
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
}

/** Downloads a wheel to the folder after --dest, and records the arguments. */
const downloads = () =>
  `echo "$@" > "${folder}/words"; while [ "$1" != --dest ]; do shift; done; touch "$2/some-1.0-py3-none-any.whl"; cp "$2/requirements.txt" "${folder}" 2>/dev/null; exit 0`;

test("a python3 without pip downloads with the pip of a virtual environment", async () => {
  program(join(folder, "pip"), downloads());
  const makes = `mkdir -p "$3/bin" && cp "${folder}/pip" "$3/bin/python"`;
  program(join(folder, "bin", "python3"), `case $2 in pip) echo "No module named pip" >&2; exit 1 ;; venv) ${makes} ;; esac`);
  let used = "";
  await withWheel("some==1.0", async (unpacked) => {
    used = unpacked;
  });
  expect(used).not.toBe("");
  expect(existsSync(used)).toBe(false);
  expect(readFileSync(join(folder, "words"), "utf8")).toContain("some==1.0");
});

test("pip gets the platform tags of suitable wheels", async () => {
  program(join(folder, "bin", "python3"), `case $2 in pip) ${downloads()} ;; esac`);
  await withWheel("some==1.0", async () => undefined, { hashes: ["abc", "def"] });
  expect(readFileSync(join(folder, "words"), "utf8")).toContain("--require-hashes -r");
  expect(readFileSync(join(folder, "requirements.txt"), "utf8")).toBe("some==1.0 --hash=sha256:abc --hash=sha256:def");
});

test("pip's error is reported", async () => {
  program(join(folder, "bin", "python3"), `echo "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES" >&2; exit 1`);
  await expect(withWheel("some==1.0", async () => undefined)).rejects.toThrow("DO NOT MATCH THE HASHES");
});

test("NATS is pinned for each supported platform", () => {
  expect(Object.keys(NATS_WHEELS).sort()).toEqual(["darwin-arm64", "darwin-x64", "linux-arm64", "linux-x64"]);
  for (const hash of Object.values(NATS_WHEELS)) expect(hash).toMatch(/^[0-9a-f]{64}$/);
});
