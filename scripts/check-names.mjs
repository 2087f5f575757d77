// Checks names of files, star exports, inner index files, and the length of files.
//   node scripts/check-names.mjs [FOLDER]   checks a folder outside the repository instead
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { root } from "./prepare.mjs";

const MAX_LINES = 500;
const EMPTY_NAMES = /(^|\/)(utils?|common|shared|helpers?|lib|misc)(\/|\.[a-z]+$)/;
/**
 * Words that name neither a thing nor an action: pronouns, determiners, auxiliary verbs,
 * conjunctions and adverbs.
 */
const FUNCTION_WORDS = new Set(
  `a an the this that these those who whose whom what which whether somebody anybody everybody whoever every either neither
  both other others such few many most least much some too also again already always ever now soon ahead beside
  besides together apart away surely merely only else thus so very nearest recently turns turn can may must shall should will would is are
  was were be been has have had do does did he she it its they them their we our ours us you your my mine`.split(/\s+/),
);
/**
 * Endings of participles, adverbs and superlatives, and prepositions: a name with such a last word
 * says no thing and no action.
 */
const OPEN_ENDING = /ed$|ly$|est$|^(?:of|to|for|with|from|at|as)$/;
/** Nouns and verbs with such an ending, and terms of the field. */
const CLOSED_ENDINGS = new Set("chunked digest early embed feed ingest manifest nightly request rest seed test vitest".split(" "));

/** Faces of the areas of admin (check-areas.mjs). */
const AREA_FACE = /^services\/admin\/src\/[^/]+\/index\.ts$/;
const [folder] = process.argv.slice(2);
const base = folder ?? root;
const files =
  folder === undefined
    ? execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" }).split("\n")
    : readdirSync(folder, { recursive: true }).filter((file) => statSync(join(folder, file)).isFile());
const problems = files.flatMap(problemsOf);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function problemsOf(file) {
  // Clients import the published IDL by its own names.
  if (file.startsWith("idl/flyteidl/")) return [];
  const found = EMPTY_NAMES.test(file) ? [`${file}: the name says nothing; name the concept`] : [];
  if (!/\.(tsx?|mjs)$/.test(file) || file.includes("/gen/")) return found;
  const text = read(file);
  if (text === undefined) return [];
  found.push(...wordProblems(file));
  if (!/\.tsx?$/.test(file)) return found;
  if (/^export \* from/m.test(text)) found.push(`${file}: star export; name every export`);
  if (basename(file) === "index.ts" && !file.endsWith("/src/index.ts") && !AREA_FACE.test(file))
    found.push(`${file}: an index below a package's root`);
  const lines = text.split("\n").length;
  if (lines > MAX_LINES && !file.endsWith(".test.ts")) found.push(`${file}: ${lines} lines; more than ${MAX_LINES}`);
  return found;
}

/** Lists the words of a module's path that are not nouns or verbs. */
function wordProblems(file) {
  const name = basename(file).split(".")[0];
  const words = [...file.split("/").slice(0, -1), name].flatMap((part) => part.toLowerCase().split(/[-_]/));
  const word = words.find((each) => FUNCTION_WORDS.has(each));
  if (word !== undefined) return [`${file}: "${word}" is neither a noun nor a verb; name the concept`];
  const last = words.at(-1) ?? "";
  return OPEN_ENDING.test(last) && !CLOSED_ENDINGS.has(last)
    ? [`${file}: ends with "${last}"; end with a noun, or begin with a verb and end with its object`]
    : [];
}

/** Returns undefined for a file that is deleted and not yet committed. */
function read(file) {
  try {
    return readFileSync(join(base, file), "utf8");
  } catch {
    return undefined;
  }
}
