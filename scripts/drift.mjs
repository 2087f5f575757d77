// Arguments of generators, and the comparison of generated files with the committed ones.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** Returns one line for each file that is missing, extra or different in the folder `actual`. */
export function differences(expected, actual) {
  const wanted = files(expected);
  const found = files(actual);
  const lines = [];
  for (const path of [...new Set([...wanted, ...found])].sort((a, b) => (a < b ? -1 : 1))) {
    if (!found.has(path)) lines.push(`  missing    ${path}`);
    else if (!wanted.has(path)) lines.push(`  extra      ${path}`);
    else if (!readFileSync(join(expected, path)).equals(readFileSync(join(actual, path)))) lines.push(`  different  ${path}`);
  }
  return lines;
}

function files(folder) {
  if (!existsSync(folder)) return new Set();
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return new Set(
    entries.filter((entry) => entry.isFile()).map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name))),
  );
}

/**
 * Reads the arguments of a generator, whose only one is `--check`. Returns true for it; exits with
 * status 2 for any other.
 */
export function parseCheckFlag(generator) {
  const args = process.argv.slice(2);
  const unknown = args.find((argument) => argument !== "--check");
  if (unknown === undefined) return args.length > 0;
  console.error(`${generator}: unknown argument ${unknown}; the only one is --check`);
  process.exit(2);
}
