import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSearch } from "./line-search.js";
import { LineStore } from "./line-store.js";
import { findRanges, compileQuery } from "./log-pattern.js";

const utf8 = new TextEncoder();
const text = fc.string({ unit: fc.constantFrom("a", "B", "b", "ä", "Ä", "漢", "😀", " ", ".", "1", "\r", "("), maxLength: 12 });
const long = fc.integer({ min: 20_000, max: 70_000 }).map((length) => `${"x".repeat(length)}ab`);
const lines = fc.array(fc.oneof({ weight: 9, arbitrary: text }, { weight: 1, arbitrary: long }), { maxLength: 40 });

/** Lines found while the log is appended in two parts. */
function found(all: readonly string[], query: { readonly text: string; readonly isRegex: boolean }): readonly number[] {
  const [store, search] = [new LineStore(), new LineSearch(query)];
  for (const part of [all.slice(0, all.length >> 1), all.slice(all.length >> 1)]) {
    for (const each of part) store.appendLine(utf8.encode(each), Number.NaN);
    while (search.step(store));
  }
  return Array.from({ length: search.count }, (_, at) => search.lineAt(at));
}

const matching = (all: readonly string[], isMatch: (line: string) => boolean): readonly number[] =>
  all.flatMap((each, at) => (isMatch(each.replace(/\r$/, "")) ? [at] : []));

test("a literal is found in any case", () => {
  const query = fc.string({ unit: fc.constantFrom("a", "B", "b", "ä", "Ä", "漢", "😀", " ", ".", "1", "("), minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(lines, query, (all, wanted) => {
      const expected = matching(all, (each) => each.toLowerCase().includes(wanted.toLowerCase()));
      expect(found(all, { text: wanted, isRegex: false })).toEqual(expected);
    }),
  );
});

const EXPRESSIONS = [
  "a.",
  "^b",
  "1$",
  "a|ä",
  "(?:a|b)+ ",
  "[^a]",
  String.raw`\s`,
  "a*",
  "^$",
  "b(?!a)",
  String.raw`\Ba`,
  "[a-b.]{2}",
  String.raw`a\S`,
];
test.each(EXPRESSIONS)("the expression %s finds the lines that it matches one by one", (expression) => {
  fc.assert(
    fc.property(lines, (all) => {
      const expected = matching(all, (each) => new RegExp(expression, "imu").test(each));
      expect(found(all, { text: expression, isRegex: true })).toEqual(expected);
    }),
    { numRuns: 50 },
  );
});

test("colours within a line do not hide a match", () => {
  expect(found(["\u001b[31mERR\u001b[0mOR", "31"], { text: "error", isRegex: false })).toEqual([0]);
  expect(found(["\u001b[31mred\u001b[0m"], { text: "31", isRegex: false })).toEqual([]);
});

test("a malformed expression is refused", () => {
  expect(() => new LineSearch({ text: "(", isRegex: true })).toThrow(SyntaxError);
});

test("matches around a line and marks are found by their lines", () => {
  const store = new LineStore();
  for (let at = 0; at < 1_000; at++) store.appendLine(utf8.encode(at % 250 === 100 ? "hit" : "miss"), Number.NaN);
  const search = new LineSearch({ text: "HIT", isRegex: false });
  while (search.step(store));
  expect([0, 100, 101, 900].map((line) => search.indexFrom(line))).toEqual([0, 0, 1, 4]);
  expect([...search.marks(10, 1_000)]).toEqual([0, 1, 0, 1, 0, 0, 1, 0, 1, 0]);
});

test("ranges of a line are its matches that are not empty", () => {
  expect(findRanges(compileQuery({ text: "a*", isRegex: true }), "baab")).toEqual([{ from: 1, to: 3 }]);
});
