import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { installSourceMapSupport } from "./map-stacks.js";

const before = Error.prepareStackTrace;
const folder = mkdtempSync(join(tmpdir(), "map-stacks-"));
afterEach(() => {
  Error.prepareStackTrace = before;
  rmSync(folder, { recursive: true, force: true });
});

test("stack traces name the source where a source map exists, and the bundled code elsewhere", () => {
  for (const name of ["mapped.mjs", "plain.mjs"])
    writeFileSync(join(folder, name), "export const stack = () => {\nreturn new RangeError('no').stack;\n};\n");
  // The second line maps to line 10 of the source, for every column.
  const map = { version: 3, sources: ["src/thrower.ts"], names: [], mappings: ";AASA" };
  writeFileSync(join(folder, "mapped.mjs.map"), JSON.stringify(map));
  installSourceMapSupport();
  const begins = ["mapped.mjs", "plain.mjs"].map((name) => {
    const { stack } = createRequire(import.meta.url)(join(folder, name)) as { stack: () => string };
    return stack().replaceAll(`file://${folder}/`, "").split("\n").slice(0, 2).join("\n");
  });
  expect(begins).toEqual(["RangeError: no\n    at stack (src/thrower.ts:10:1)", "RangeError: no\n    at stack (plain.mjs:2:8)"]);
});
