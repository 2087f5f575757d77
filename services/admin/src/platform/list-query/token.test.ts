import fc from "fast-check";
import { expect, test } from "vitest";
import { nextToken, parseToken } from "./token.js";

test("a token is the offset of the next row", () => {
  fc.assert(
    fc.property(fc.nat({ max: 1e9 }), fc.integer({ min: 1, max: 10_000 }), (offset, limit) => {
      expect(parseToken(nextToken({ offset, limit }, limit))).toBe(offset + limit);
      expect(nextToken({ offset, limit }, limit - 1)).toBe("");
    }),
  );
});

test.each(["x", "-1", "1.5", "1e3", " 1", "99999999999999999999", "9007199254740993"])("%j is not a token", (token) =>
  expect(parseToken(token)).toBeUndefined(),
);

test("an empty token starts at the first row", () => expect(parseToken("")).toBe(0));
