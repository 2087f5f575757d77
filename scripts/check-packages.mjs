// Checks shared packages: each index shows at most 60 names, and packages/async stays free of
// dependencies and of clocks. `node scripts/check-packages.mjs [FOLDER]` checks another tree than
// this one.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { parseSync } from "oxc-parser";
import { root } from "./prepare.mjs";
import { sourceFiles } from "./source-files.mjs";

const MAX_NAMES = 60;
/** The only files of packages/async that may read clocks, timers and random numbers. */
const IMPURE_FILES = ["packages/async/src/system.ts", "packages/async/src/manual-time.ts"];
const IMPURE = /\b(Date\.now|Math\.random|performance\.now|setTimeout|setInterval|setImmediate|process\.\w+)\b|\bnew Date\(\)/;

const tree = resolve(process.argv[2] ?? root);
const problems = [];
for (const { name } of readdirSync(join(tree, "packages"), { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
  checkIndexes(join(tree, "packages", name));
}
if (existsSync(join(tree, "packages/async/src"))) for (const file of sourceFiles(join(tree, "packages/async/src"))) checkPurity(file);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

/**
 * Counts the names of each entry of a package's `exports`, except patterns, which stand for
 * generated modules.
 */
function checkIndexes(folder) {
  const manifestFile = join(folder, "package.json");
  if (!existsSync(manifestFile)) return;
  const { exports = {} } = JSON.parse(readFileSync(manifestFile, "utf8"));
  for (const [subPath, { source }] of Object.entries(exports)) {
    if (subPath.includes("*")) continue;
    const file = join(folder, source);
    const names = parseSync(file, readFileSync(file, "utf8")).module.staticExports.flatMap(({ entries }) => entries);
    const place = relative(tree, file);
    // Names behind a star could not be counted, nor found by a reader.
    if (names.some(({ exportName }) => exportName.kind === "None"))
      problems.push(`${place} exports all names of another module: list them`);
    if (names.length > MAX_NAMES) problems.push(`${place} exports ${names.length} names: at most ${MAX_NAMES}, split it by topic`);
  }
}

function checkPurity(file) {
  const place = relative(tree, file);
  if (file.endsWith(".test.ts") || IMPURE_FILES.includes(place)) return;
  const text = readFileSync(file, "utf8");
  const { module } = parseSync(file, text);
  for (const { moduleRequest } of module.staticImports) {
    if (!moduleRequest.value.startsWith("./")) problems.push(`${place} imports ${moduleRequest.value}: packages/async has no dependencies`);
  }
  const impure = IMPURE.exec(text)?.[0];
  if (impure !== undefined) problems.push(`${place} names ${impure}: take a Time, or a function that returns random numbers`);
}
