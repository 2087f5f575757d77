// Checks names of files, star exports, inner index files, and the length of files.
import { readFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { basename, join } from "node:path";
import { root } from "./prepare.mjs";

const LONGEST = 500;
const EMPTY_NAMES = /(^|\/)(utils?|common|shared|helpers?|lib|misc)(\/|\.[a-z]+$)/;

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" }).split("\n");
const problems = [];
for (const file of files) {
  // Clients import the published IDL by its own names.
  if (file.startsWith("idl/flyteidl/")) continue;
  if (EMPTY_NAMES.test(file)) problems.push(`${file}: the name says nothing; name the concept`);
  if (!file.endsWith(".ts") || file.includes("/gen/")) continue;
  let text;
  try {
    text = readFileSync(join(root, file), "utf8");
  } catch {
    continue; // Deleted and not yet committed.
  }
  if (/^export \* /m.test(text)) problems.push(`${file}: star export; name every export`);
  if (basename(file) === "index.ts" && !file.endsWith("/src/index.ts")) problems.push(`${file}: an index below a package's root`);
  const lines = text.split("\n").length;
  if (lines > LONGEST && !file.endsWith(".test.ts")) problems.push(`${file}: ${lines} lines; more than ${LONGEST}`);
}
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);
