import fc from "fast-check";
import { expect, test } from "vitest";
import { ANSI_COLOURS, type AnsiLook, type AnsiSpan, readAnsi, stripEscapes } from "./ansi.js";

/** Reads character by character, for sequences that are complete. */
function naiveSpans(line: string): readonly AnsiSpan[] {
  let [cells, look]: [{ char: string; look: AnsiLook }[], AnsiLook] = [[], {}];
  for (let at = 0; at < line.length; at++) {
    const char = line[at] as string;
    if (char === "\r") cells = [];
    else if (char !== "\u001b") cells.push({ char, look });
    else if (line[at + 1] === "]") at = line.indexOf("\u0007", at);
    else {
      const start = at + 2;
      for (at = start; !/[@-~]/.test(line[at] as string); at++);
      if (line[at] !== "m") continue;
      for (const code of line.slice(start, at).split(";").map(Number)) {
        if (code === 0) look = {};
        if (code === 1) look = { ...look, bold: true };
        if (code >= 30 && code < 38) look = { ...look, ink: ANSI_COLOURS[code - 30] };
        if (code >= 40 && code < 48) look = { ...look, ground: ANSI_COLOURS[code - 40] };
      }
    }
  }
  return cells.map(({ char, look: own }) => ({ text: char, look: own }));
}

test("spans have the looks that their characters have one by one", () => {
  const codes = fc.array(fc.constantFrom("0", "1", "31", "32", "37", "44", "4"), { maxLength: 3 });
  const part = fc.oneof(
    fc.constantFrom("a", "b ", "<b>", "漢", "\r"),
    codes.map((each) => `\u001b[${each.join(";")}m`),
    fc.constantFrom("\u001b[2K", "\u001b[?25l", "\u001b]0;title\u0007"),
  );
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const line = parts.join("");
      const cells = readAnsi(line).flatMap(({ text, look }) => Array.from(text, (char) => ({ text: char, look })));
      expect(cells).toEqual(naiveSpans(line));
    }),
  );
});

test.each([
  ["an indexed colour", "\u001b[38;5;1mx", [{ text: "x", look: { ink: "red" } }]],
  ["a colour of three parts is not shown", "\u001b[1;38;2;255;0;31mx", [{ text: "x", look: { bold: true, ink: undefined } }]],
  ["a bright colour", "\u001b[91mx", [{ text: "x", look: { ink: "red" } }]],
  ["a link", "\u001b]8;;http://a\u001b\\text\u001b]8;;\u001b\\", [{ text: "text", look: {} }]],
  ["a sequence that is cut off", "a\u001b[31", [{ text: "a", look: {} }]],
  ["controls", "a\u0000\u0007b\u009bc", [{ text: "abc", look: {} }]],
])("%s", (_, line, spans) => {
  expect(readAnsi(line)).toEqual(spans);
});

test("line ends stay when escapes are removed", () => {
  expect(stripEscapes("a\u001b[1m\nb\u001b]0;t\nc\u001b\n")).toBe("a\nb\nc\n");
});
