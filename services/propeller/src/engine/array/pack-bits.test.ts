import { describe, expect, it } from "vitest";
import { packBits } from "./pack-bits.js";

describe("a packed array", () => {
  it("holds each number in as many bits as the largest needs, the highest first", () => {
    expect(packBits([0, 1, 2, 3], 3)).toEqual({ item: 2, count: 4, BitSet: [0b11011000] });
  });

  it("of nothing has neither words nor a count, as Go writes it", () => {
    expect(packBits([], 3)).toEqual({ item: 2, BitSet: [] });
  });
});
