import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ensurePythonEnvironment } from "./python-environment.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "python-environment-"));
  mkdirSync(join(folder, "bin"));
  vi.stubEnv("PATH", `${join(folder, "bin")}${delimiter}${process.env.PATH}`);
  vi.stubEnv("FLYTE_TS_CACHE", join(folder, "cache"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/**
 * A `python3` that runs this shell script; `$1` is `-c` for a query of its version, `-m` for the
 * creation of an environment.
 */
function python(script: string): void {
  const file = join(folder, "bin", "python3");
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, 0o755);
}

/** An environment whose pip does nothing. */
const MAKES = `mkdir -p "$3/bin" && printf '#!/bin/sh\\nexit 0\\n' > "$3/bin/python" && cp "$3/bin/python" "$3/bin/uv" && chmod +x "$3"/bin/*`;
const ensure = (signal = new AbortController().signal) => ensurePythonEnvironment({ onInstall: () => undefined, signal });

test("the version of a python3 that prints warnings is found", async () => {
  const warns = `echo "python3: warning: setlocale: LC_ALL: cannot change locale (xx_YY)" >&2; echo "a note of a start-up file: 9.9"`;
  python(`${warns}\ncase $1 in -c) echo python-version=3.12 ;; -m) ${MAKES} ;; esac`);
  expect((await ensure()).bin).toMatch(/\/cache\/python-3\.12-[0-9a-f]{12}\/bin$/);
});

test.each([
  ["echo python-version=3.9", "python3 is Python 3.9: install Python 3.10 or newer"],
  ["exit 1", "python3 cannot be run: install Python 3.10 or newer"],
  ["echo nonsense", "python3 reports no version: nonsense"],
])("an unusable python3 is refused: %s", async (script, message) => {
  python(script);
  await expect(ensure()).rejects.toThrow(message);
});

test("a start that hangs while it creates the environment can be aborted, and leaves no files", async () => {
  python(`case $1 in -c) echo python-version=3.12 ;; -m) touch "${folder}/begun"; exec sleep 600 ;; esac`);
  const ending = new AbortController();
  const ensured = ensure(ending.signal);
  ensured.catch(() => undefined);
  await expect.poll(() => readdirSync(folder)).toContain("begun");
  ending.abort();
  await expect(ensured).rejects.toThrow("abort");
  expect(readdirSync(join(folder, "cache"))).toEqual([]);
});
