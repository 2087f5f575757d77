import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDuration } from "./duration.js";

test.each([
  ["5", 5_000_000_000n],
  ["1.5", 1_500_000_000n],
  ["1e3", 1_000_000_000_000n],
  ["-2", -2_000_000_000n],
  ["1e300", undefined],
  ["NaN", undefined],
  ["Infinity", undefined],
])("%j is converted to seconds", (text, nanoseconds) => expect(parseDuration(text)).toBe(nanoseconds));

test("whole numbers of a unit are multiples of the unit", () => {
  const unit = fc.constantFrom(
    ["ns", 1n],
    ["us", 1_000n],
    ["ms", 1_000_000n],
    ["s", 1_000_000_000n],
    ["m", 60_000_000_000n],
  ) as fc.Arbitrary<[string, bigint]>;
  fc.assert(
    fc.property(fc.integer({ min: -100_000, max: 100_000 }), unit, (count, [name, nanoseconds]) => {
      expect(parseDuration(`${count}${name}`)).toBe(BigInt(count) * nanoseconds);
    }),
  );
});

test("a million digits that are not a number are refused quickly", { timeout: 20_000 }, () => {
  expect(parseDuration(`${"1".repeat(1_000_000)}x`)).toBeUndefined();
  expect(parseDuration("1.")).toBe(1_000_000_000n);
});
