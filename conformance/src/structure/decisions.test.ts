import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../repository.js";
import { trackedFiles } from "./tracked-files.js";

const SECTIONS = ["Context", "Decision", "Consequences"];
const records = trackedFiles("docs/decisions/[0-9]*.md");
const index = readFileSync(join(root, "docs", "decisions", "README.md"), "utf8");

test("every decision record has its sections, a status and a row in the index", () => {
  expect(records.length).toBeGreaterThan(50);
  expect(records.flatMap((file) => recordProblems(basename(file), readFileSync(join(root, file), "utf8"), index))).toEqual([]);
});

test("an incomplete decision record is reported", () => {
  const text = "# 7. Title\n\nStatus: accepted.\n\n## Context\n\n## Decision\n";
  expect(recordProblems("0008-title.md", text, "| 8 | [Other](0008-title.md) | accepted | 2026-11-21 |")).toEqual([
    "0008-title.md: the title must begin with 8.",
    "0008-title.md: the second paragraph must state status and date",
    "0008-title.md: the section Consequences is missing",
    "0008-title.md: the index needs a row with this title",
  ]);
});

/** Lists the ways in which a decision record breaks the rules of docs/decisions/README.md. */
function recordProblems(name: string, text: string, table: string): string[] {
  const number = Number(name.slice(0, 4));
  const title = /^# \d+\. (.+)\n/.exec(text)?.[1] ?? "";
  const problems = [
    ...(text.startsWith(`# ${number}. `) ? [] : [`the title must begin with ${number}.`]),
    ...(/\n\nStatus: [^\n]+\. Date: \d{4}-\d\d-\d\d\.\n\n/.test(text) ? [] : ["the second paragraph must state status and date"]),
    ...SECTIONS.filter((section) => !text.includes(`\n## ${section}\n`)).map((section) => `the section ${section} is missing`),
    ...(table.includes(`| ${number} | [${title}](${name}) |`) ? [] : ["the index needs a row with this title"]),
  ];
  return problems.map((problem) => `${name}: ${problem}`);
}
