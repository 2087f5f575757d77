import fc from "fast-check";
import { expect, test } from "vitest";
import { parseDuration, parseGoDuration } from "./duration.js";

test.each([
  ["1h30m", 5_400_000_000_000n],
  ["-1.5s", -1_500_000_000n],
  ["300ms", 300_000_000n],
  ["2µs", 2_000n],
  [".5s", 500_000_000n],
  ["0", 0n],
  ["", undefined],
  ["5", undefined],
  ["1d", undefined],
  ["1h 30m", undefined],
  ["s", undefined],
  ["9000000h", undefined],
])("%j in Go's form", (text, nanoseconds) => expect(parseGoDuration(text)).toBe(nanoseconds));

test.each([
  ["5", 5_000_000_000n],
  ["1.5", 1_500_000_000n],
  ["1e3", 1_000_000_000_000n],
  ["-2", -2_000_000_000n],
  ["1e300", undefined],
  ["NaN", undefined],
  ["Infinity", undefined],
])("%j as seconds", (text, nanoseconds) => expect(parseDuration(text)).toBe(nanoseconds));

test("whole numbers of a unit are that many times the unit", () => {
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
