import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";

const project = resolve(import.meta.dirname, "..");
const compilers = [
  { name: "TypeScript 5.9", tsc: join(project, "node_modules/typescript/bin/tsc"), version: "Version 5.9.3" },
  { name: "TypeScript 7", tsc: resolve(project, "../../node_modules/typescript/bin/tsc"), version: "Version 7." },
];
const EXPECTATION = "@ts-expect-error";
const source = readFileSync(join(import.meta.dirname, "mistakes.ts"), "utf8");
const expectations = source.split("\n").flatMap((line, i) => (line.includes(EXPECTATION) ? [i + 1] : []));

function compile(tsc: string, folder: string): { readonly status: number | null; readonly output: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [tsc, "-p", folder, "--pretty", "false"], { encoding: "utf8" });
  return { status, output: stdout + stderr };
}

describe.each(compilers)("$name", ({ tsc, version }) => {
  test("compiles the examples", () => {
    expect(spawnSync(process.execPath, [tsc, "--version"], { encoding: "utf8" }).stdout).toContain(version);
    expect(compile(tsc, project)).toEqual({ status: 0, output: "" });
  });

  test("refuses each mistake", () => {
    const folder = mkdtempSync(join(project, "src", ".mistakes-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    // Without the expectations each mistake shows: taking any one away makes tsc fail.
    writeFileSync(join(folder, "mistakes.ts"), source.replaceAll(EXPECTATION, "expected").replaceAll('"./flows/', '"../flows/'));
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ extends: "../../tsconfig.json", include: ["mistakes.ts"] }));
    const { output } = compile(tsc, folder);
    const found = new Set([...output.matchAll(/mistakes\.ts\((\d+),/g)].map(([, line]) => Number(line)));
    expect(expectations.length).toBeGreaterThanOrEqual(24);
    expect(expectations.filter((line) => !found.has(line + 1))).toEqual([]);
  });
});
