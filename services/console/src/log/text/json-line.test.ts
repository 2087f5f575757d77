import { expect, test } from "vitest";
import { plainLevel, readJsonLine } from "./json-line.js";

test("a JSON line has its message and level", () => {
  const read = readJsonLine('{"levelname":"WARNING","message":"disk is full","n":1}');
  expect(read).toMatchObject({ level: "warn", message: "disk is full" });
  expect(read?.whole).toContain('\n  "n": 1');
});

test.each(["{}", "{a}", '{"message":1}', "text", "[1]", '{"message":"x"'])("%s is a plain line", (text) => {
  expect(readJsonLine(text)).toBeUndefined();
});

test.each([
  ["2026-11-27 01:18:21 ERROR fit: input is not complete", "error"],
  ["Traceback (most recent call last):", "error"],
  ["ValueError: column", "error"],
  ["WARN frames: column", "warn"],
  ["fit: no errors", undefined],
])("the level of %s", (line, level) => {
  expect(plainLevel(line)).toBe(level);
});
