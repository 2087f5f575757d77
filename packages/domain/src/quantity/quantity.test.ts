import { describe, expect, it } from "vitest";
import { canonicalQuantity, compareQuantities, isZeroQuantity } from "./quantity.js";

describe("quantities", () => {
  // Forms that kube-apiserver writes back.
  it.each([
    ["1000m", "1"],
    ["0.5", "500m"],
    ["1.5", "1500m"],
    ["500m", "500m"],
    ["1024Mi", "1Gi"],
    ["1536Mi", "1536Mi"],
    ["500Mi", "500Mi"],
    ["0.5Gi", "512Mi"],
    ["2", "2"],
    ["2000", "2k"],
    ["1e3", "1e3"],
    ["100M", "100M"],
    ["0", "0"],
    ["1n", "1n"],
  ])("%s is formatted as %s", (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  it.each([
    ["1", "1000m", 0],
    ["1Gi", "1G", 1],
    ["900m", "1", -1],
    ["64Gi", "4Gi", 1],
    ["-1", "0", -1],
  ])("%s compared with %s", (a, b, order) => {
    expect(compareQuantities(a, b)).toBe(order);
  });

  it.each(["", "plenty", "1 Gi", "1gi", "1.2.3", "Mi", "1e99"])("%j is not a quantity", (text) => {
    expect(() => canonicalQuantity(text)).toThrow("is not a quantity");
  });

  it("zero is recognized", () => {
    expect(["0", "0Gi", "1m"].map(isZeroQuantity)).toEqual([true, true, false]);
  });
});
