import { expect, test } from "vitest";
import { formatQuantity, parseQuantity, QuantityError } from "./quantity.js";

test.each([
  ["0", 0n],
  ["1", 1000n],
  ["500m", 500n],
  ["0.5", 500n],
  [".5", 500n],
  ["1.", 1000n],
  ["1.0001", 1001n],
  ["100u", 1n],
  ["1n", 1n],
  ["2k", 2_000_000n],
  ["1Ki", 1_024_000n],
  ["1.5Gi", 1_610_612_736_000n],
  ["1e3", 1_000_000n],
  ["1E3", 1_000_000n],
  ["1E", 1_000_000_000_000_000_000_000n],
  ["5e-1", 500n],
  ["-1", -1000n],
  [4, 4000n],
])("%s is %d thousandths", (text, value) => {
  expect(parseQuantity(text)).toBe(value);
});

test.each(["", "lots", "1 Gi", "1Gb", "--1", "1.2.3", null, {}])("%j is not a quantity", (value) => {
  expect(() => parseQuantity(value)).toThrow(QuantityError);
});

test.each([
  ["500m", false, "500m"],
  ["2000m", false, "2"],
  ["3072Mi", true, "3Gi"],
  ["1500Mi", true, "1500Mi"],
  ["2000", false, "2k"],
  ["0", true, "0"],
] as const)("%s is formatted in its shortest form", (text, binary, expected) => {
  expect(formatQuantity(parseQuantity(text), binary)).toBe(expected);
});
