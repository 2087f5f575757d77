import { describe, expect, it } from "vitest";
import { packBits } from "./pack-bits.js";

describe("a packed array", () => {
  it("holds each number in as many bits as the largest needs, most significant bit first", () => {
    expect(packBits([0, 1, 2, 3], 3)).toEqual({ item: 2, count: 4, BitSet: [0b11011000] });
  });

  it("without numbers has neither words nor a count, as in Go", () => {
    expect(packBits([], 3)).toEqual({ item: 2, BitSet: [] });
  });
});
