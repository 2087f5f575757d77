// Finds the source files that checks read, and the modules that they import.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** Files beside `src` that build a package. */
const BUILD_FILES = ["build.mjs", "vite.config.ts"];
/** Folders without hand-written code. */
const SKIPPED = new Set(["gen", "node_modules", "dist", "bundle"]);

/**
 * Yields the paths of the hand-written files below a folder whose names match; by default, of
 * TypeScript and JavaScript modules.
 */
export function* sourceFiles(folder, names = /\.(tsx?|mjs)$/) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name) && !entry.name.startsWith(".")) yield* sourceFiles(path, names);
    else if (entry.isFile() && names.test(entry.name)) yield path;
  }
}

/**
 * Lists the source files of a package: the product and, beside it, its simulation and its build.
 */
export function packageFiles(folder) {
  const folders = ["src", "simulation"].map((name) => join(folder, name)).filter((path) => existsSync(path));
  const build = BUILD_FILES.map((name) => join(folder, name)).filter((path) => existsSync(path));
  return [...folders.flatMap((path) => [...sourceFiles(path)]), ...build];
}

/**
 * Reports whether a file is no part of the product: a test, a fixture, part of a simulation or
 * harness, or a build.
 */
export function isForTests(file) {
  return /\.(test|fixture)\.tsx?$|\/(simulation|harness)\/|\/(build\.mjs|vite\.config\.ts)$/.test(file);
}

/** Lists the modules that a parsed file imports or re-exports; dynamic imports if by a literal. */
export function importedModules({ staticImports, staticExports, dynamicImports }, text) {
  return [
    ...staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value)),
    ...dynamicImports.map(({ moduleRequest: { start, end } }) => /^["'](.+)["']$/.exec(text.slice(start, end))?.[1]),
  ].filter((name) => name !== undefined);
}
