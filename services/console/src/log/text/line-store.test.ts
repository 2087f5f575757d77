import fc from "fast-check";
import { expect, test } from "vitest";
import { CHUNK_BYTES, LineStore } from "./line-store.js";

const utf8 = new TextEncoder();
const line = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "ä", "漢", "😀", " ", "\t"), maxLength: 40 }),
  fc.integer({ min: CHUNK_BYTES - 3, max: 2 * CHUNK_BYTES + 3 }).map((length) => "x".repeat(length)),
);

function naiveLines(text: string): readonly string[] {
  const lines = text.split("\n").map((each) => each.replace(/\r$/, ""));
  return text.endsWith("\n") || text === "" ? lines.slice(0, -1) : lines;
}

test("lines are those of the text, however its bytes are cut", () => {
  const ends = fc.constantFrom("\n", "\r\n", "\n\n");
  const texts = fc
    .tuple(
      fc.array(
        fc.tuple(line, ends).map((parts) => parts.join("")),
        { maxLength: 8 },
      ),
      fc.oneof(fc.constant(""), line),
    )
    .map(([lines, last]) => lines.join("") + last);
  fc.assert(
    fc.property(texts, fc.array(fc.nat({ max: 3 * CHUNK_BYTES }), { maxLength: 6 }), (text, cuts) => {
      const bytes = utf8.encode(text);
      const store = new LineStore();
      const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((a, b) => a - b), bytes.length];
      for (let at = 1; at < places.length; at++) store.append(bytes.subarray(places[at - 1], places[at]));
      const expected = naiveLines(text);
      expect(store.length).toBe(expected.length);
      expect(store.completeLength).toBe(text.split("\n").length - 1);
      expect(Array.from({ length: store.length }, (_, at) => store.text(at)).every((each, at) => each === expected[at])).toBe(true);
      expect(Buffer.concat(store.parts()).equals(Buffer.from(bytes))).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test("each line has its time, as far as it is known", () => {
  const store = new LineStore();
  const times = Array.from({ length: 9_000 }, (_, at) => (at % 7 === 3 ? Number.NaN : 1_700_000_000_000 + at * 17));
  for (const time of times) store.appendLine(utf8.encode("a line of text"), time);
  expect(times.map((_, at) => store.timeMs(at))).toEqual(times.map((time) => (Number.isNaN(time) ? undefined : time)));
});

test("the index costs less than half of the text", () => {
  const store = new LineStore();
  for (let at = 0; at < 100_000; at++) store.appendLine(utf8.encode(`line ${at}`), at);
  expect(store.memoryBytes).toBeLessThan(store.size * 1.5 + 2 * CHUNK_BYTES);
});
