import { parseQuantity } from "@flyte-ts/domain/quantity";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isWhole, wholeUnits } from "./whole-units.js";

const units = (text: string) => {
  const quantity = parseQuantity(text);
  return quantity && wholeUnits(quantity);
};

test.each([
  ["1", 1n],
  ["100m", 1n],
  ["1500m", 2n],
  ["0.5", 1n],
  ["-1", -1n],
  ["-0.5", -1n],
  ["1Ki", 1024n],
  ["1.5Gi", 1_610_612_736n],
  ["2k", 2000n],
  ["1E", 10n ** 18n],
  ["1e3", 1000n],
  ["12E-1", 2n],
  [".5", 1n],
  ["5.", 5n],
  ["+3", 3n],
])("%s is rounded to whole units", (text, expected) => expect(units(text)).toBe(expected));

test.each(["", "lots", "1Q!", "1 Gi", "1KI", "1K", "--1", "1mi", ".", "1e", "1e9999", "0x10"])("%j is not a quantity", (text) =>
  expect(parseQuantity(text)).toBeUndefined(),
);

test.each([
  ["2", true],
  ["2000m", true],
  ["0.5", false],
  ["1500m", false],
])("%s is a whole number of units: %s", (text, expected) =>
  expect(isWhole(parseQuantity(text) ?? { nanos: 1n, form: "decimal" })).toBe(expected),
);

test("integers are unchanged", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), (value) => {
      expect(units(String(value))).toBe(value);
    }),
  );
});
