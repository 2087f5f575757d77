import fc from "fast-check";
import { expect, test } from "vitest";
import { splitDirectionMarks } from "./direction-marks.js";

test("marks of direction are named where they stand", () => {
  expect(splitDirectionMarks("name \u202egpj.exe\u2069")).toEqual([
    { text: "name ", isMark: false },
    { text: "U+202E", isMark: true },
    { text: "gpj.exe", isMark: false },
    { text: "U+2069", isMark: true },
  ]);
  expect(splitDirectionMarks("\u061c")).toEqual([{ text: "U+061C", isMark: true }]);
});

test("text in any script is kept as it is", () => {
  const script = fc.string({ unit: fc.constantFrom("a", "ß", "א", "ع", "\u{1f600}", "\n", " ") });
  fc.assert(
    fc.property(script, (text) => {
      expect(splitDirectionMarks(text)).toEqual([{ text, isMark: false }]);
    }),
  );
});

test("no part contains a mark, and nothing else is lost", () => {
  const unit = fc.constantFrom("a", "א", "\u200e", "\u200f", "\u202a", "\u202e", "\u2066", "\u2069", "\u061c");
  fc.assert(
    fc.property(fc.string({ unit }), (text) => {
      const parts = splitDirectionMarks(text);
      const written = parts.map((part) => (part.isMark ? String.fromCodePoint(Number.parseInt(part.text.slice(2), 16)) : part.text));
      expect(written.join("")).toBe(text);
      expect(parts.filter((part) => /\p{Bidi_Control}/u.test(part.text))).toEqual([]);
    }),
  );
});
