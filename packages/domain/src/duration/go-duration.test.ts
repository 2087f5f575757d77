import { expect, test } from "vitest";
import { parseGoDuration } from "./go-duration.js";

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
])("%j is formatted as in Go", (text, nanoseconds) => expect(parseGoDuration(text)).toBe(nanoseconds));
