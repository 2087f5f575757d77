import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../repository.js";
import { trackedFiles } from "./tracked-files.js";

const MAX_LINES = 40;
const folders = trackedFiles("packages/*/package.json", "services/**/package.json").map((file) => dirname(file));
const ownPackages = folders.filter((folder) => /^(packages|services)(\/plugins)?\/[^/]+$/.test(folder));

test("every package and service has a README of at most 40 lines", () => {
  expect(ownPackages.length).toBeGreaterThan(20);
  expect(ownPackages.flatMap((folder) => readmeProblems(folder, readIfPresent(join(root, folder, "README.md"))))).toEqual([]);
});

test("a missing, a long and an incomplete README are reported", () => {
  const complete = "# Title\n\n- Entry point: `src/main.ts`\n\n## Rules\n\n## Tests\n";
  expect(readmeProblems("a", complete)).toEqual([]);
  expect(readmeProblems("a", undefined)).toEqual(["a: no README.md"]);
  expect(readmeProblems("a", `${complete}${"\n".repeat(MAX_LINES)}`)).toEqual(["a: README.md has 47 lines, at most 40 are allowed"]);
  expect(readmeProblems("a", "# Title\n\n## Rules\n")).toEqual(["a: README.md has no section Tests"]);
});

/** Lists the rules that the README of a folder breaks. */
function readmeProblems(folder: string, text: string | undefined): string[] {
  if (text === undefined) return [`${folder}: no README.md`];
  const lines = text.split("\n").length - 1;
  const sections = ["Rules", "Tests"].filter((section) => !text.includes(`\n## ${section}\n`));
  return [
    ...(lines > MAX_LINES ? [`${folder}: README.md has ${lines} lines, at most ${MAX_LINES} are allowed`] : []),
    ...sections.map((section) => `${folder}: README.md has no section ${section}`),
  ];
}

function readIfPresent(path: string): string | undefined {
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}
