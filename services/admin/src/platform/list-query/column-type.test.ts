import fc from "fast-check";
import { expect, test } from "vitest";
import { columnTypes } from "./column-type.js";

test.each([
  "2024-03-01T10:00:00Z",
  "2024-03-01T10:00:00.123456789Z",
  "2024-03-01T10:00:00+02:00",
  "2024-03-01 10:00:00",
  "2024-03-01 10:00",
  "2024-02-29",
])("%s is a time", (text) => expect(columnTypes.timestamp.parse(text)).toBeDefined());

test.each([
  "monday",
  "yesterday",
  "2023-02-29",
  "2024-13-01",
  "2024-03-01T25:00:00Z",
  "0000-01-01",
  "2024-03-01T10:00:00+99:00",
  "1709287200",
])("%s is not a time", (text) => expect(columnTypes.timestamp.parse(text)).toBeUndefined());

test("a time without a zone is read as UTC", () => {
  expect(columnTypes.timestamp.parse("2024-03-01")).toBe("2024-03-01T00:00:00Z");
  expect(columnTypes.timestamp.parse("2024-03-01 10:00")).toBe("2024-03-01 10:00Z");
});

test("integers must fit the width of their column", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (value) => {
      const inside = (bits: bigint) => value >= -(2n ** (bits - 1n)) && value < 2n ** (bits - 1n);
      expect(columnTypes.int4.parse(String(value)) !== undefined).toBe(inside(32n));
      expect(columnTypes.int8.parse(String(value)) !== undefined).toBe(inside(64n));
    }),
  );
  expect(columnTypes.int4.parse("ACTIVE")).toBeUndefined();
  expect(columnTypes.int4.parse("+7")).toBe("7");
});
