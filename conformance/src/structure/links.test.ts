import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../repository.js";
import { trackedFiles } from "./tracked-files.js";

const documents = trackedFiles("*.md");
/**
 * Applied migrations keep their text, one test makes up documents, and other files are not text.
 */
const NOT_CHECKED = /\/migrations\/|structure\/changed-tests|package-lock\.json$|\.(?:bin|gz|pb|png|whl|zip)$/;

test("every relative link of a document leads to an existing file and heading", () => {
  expect(documents.length).toBeGreaterThan(20);
  expect(documents.flatMap((file) => brokenLinks(file, readFileSync(join(root, file), "utf8")))).toEqual([]);
});

test("broken links are reported", () => {
  const text =
    "[file](missing.md) [heading](README.md#missing) [own heading](#missing) [good](README.md#start)\n```\n[code](ignored.md)\n```";
  const reported = brokenLinks("TEST.md", text);
  expect(reported).toEqual(["TEST.md: missing.md", "TEST.md: README.md#missing", "TEST.md: #missing"]);
});

test("every document that source code names exists", () => {
  const sources = trackedFiles().filter((file) => !file.endsWith(".md") && !NOT_CHECKED.test(file));
  const named = sources.flatMap((file) => namedDocuments(readFileSync(join(root, file), "utf8")).map((path) => ({ file, path })));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter(({ path }) => !documents.some((document) => document.startsWith(path)))).toEqual([]);
});

/** Paths of documents in a text; the path of a decision may end after its number. */
function namedDocuments(text: string): string[] {
  return [...text.matchAll(/(?<![\w/])docs\/(?:[\w-]+\/)*(?:[\w-]+\.md|\d{4})/g)].map(([path]) => path);
}

/**
 * Lists the links whose file or heading does not exist. Links in code blocks and to other hosts are
 * skipped.
 */
function brokenLinks(file: string, text: string): string[] {
  const prose = withoutCode(text).replaceAll(/`[^`]*`/g, "");
  const targets = [...prose.matchAll(/\]\(([^()\s]+)\)/g)].flatMap(([, target]) => target ?? []);
  return targets.filter((target) => !/^[a-z]+:/.test(target) && !resolves(file, { text, target })).map((target) => `${file}: ${target}`);
}

function resolves(file: string, { text, target }: { readonly text: string; readonly target: string }): boolean {
  const [path = "", heading] = target.split("#");
  const destination = path === "" ? file : join(dirname(file), path);
  if (path !== "" && !existsSync(join(root, destination))) return false;
  if (heading === undefined) return true;
  return headings(path === "" ? text : readFileSync(join(root, destination), "utf8")).includes(heading);
}

/** Anchors of the headings, as GitHub derives them. */
function headings(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#{1,6} (.+)$/gm)].map(([, title = ""]) =>
    title
      .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[^]*?^```/gm, "");
}
