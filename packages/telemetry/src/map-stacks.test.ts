import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { mapStack, mapStackFields } from "./map-stacks.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "map-stacks-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const THROWER = "export const stack = () => {\nreturn new RangeError('no').stack;\n};\n";
/** The second line of the code maps to line 10 of the source, for every column. */
const MAP = JSON.stringify({ version: 3, sources: ["src/thrower.ts"], names: [], mappings: ";AASA" });

const stackOf = (name: string): string => {
  writeFileSync(join(folder, name), THROWER);
  return (createRequire(import.meta.url)(join(folder, name)) as { stack: () => string }).stack();
};
const start = (text: unknown) => String(text).replaceAll(`file://${folder}/`, "").split("\n").slice(0, 2).join("\n");

test("stack traces name the source where a source map exists, and the bundled code elsewhere", () => {
  writeFileSync(join(folder, "mapped.mjs.map"), MAP);
  expect(["mapped.mjs", "plain.mjs"].map((name) => start(mapStack(stackOf(name))))).toEqual([
    "RangeError: no\n    at Module.stack (src/thrower.ts:10:1)",
    "RangeError: no\n    at Module.stack (plain.mjs:2:8)",
  ]);
});

test("stack traces among the fields of a log line are mapped, other fields are unchanged", () => {
  writeFileSync(join(folder, "mapped.mjs.map"), MAP);
  const others = { file: `file://${folder}/mapped.mjs:2:8`, count: 1, nested: { a: 1 } };
  const { error, ...rest } = mapStackFields({ error: stackOf("mapped.mjs"), ...others });
  expect(start(error)).toBe("RangeError: no\n    at Module.stack (src/thrower.ts:10:1)");
  expect(rest).toEqual(others);
});

test("reading the stack of an error reads no source map", () => {
  writeFileSync(join(folder, "mapped.mjs.map"), "not read");
  expect(start(stackOf("mapped.mjs"))).toBe("RangeError: no\n    at Module.stack (mapped.mjs:2:8)");
});

test("Node prints the mapped stack of an uncaught error", () => {
  const sourceMaps = new URL("source-map.ts", import.meta.url).href;
  const code = readFileSync(new URL("map-stacks.ts", import.meta.url), "utf8");
  writeFileSync(join(folder, "map-stacks.mts"), code.replace("./source-map.js", sourceMaps));
  writeFileSync(join(folder, "thrower.mjs"), "export const fail = () => {\nthrow new RangeError('no');\n};\n");
  writeFileSync(join(folder, "thrower.mjs.map"), MAP);
  writeFileSync(
    join(folder, "main.mjs"),
    "import { installSourceMapSupport } from './map-stacks.mts';\nimport { fail } from './thrower.mjs';\ninstallSourceMapSupport();\nfail();\n",
  );
  const { stderr, status } = spawnSync(process.execPath, [join(folder, "main.mjs")], { encoding: "utf8" });
  expect(status).toBe(1);
  expect(stderr.replaceAll(`file://${folder}/`, "")).toContain("RangeError: no\n    at fail (src/thrower.ts:10:1)");
});
