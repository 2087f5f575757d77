import { expect, test } from "vitest";
import { findAcceptedDifference } from "./accepted-differences.js";

test("an accepted difference covers its cases and the whole path only", () => {
  const list = [{ cases: ["one"], path: "/a/.*", reason: "because" }];
  const at = (path: string) => ({ path, at: [], recorded: 1, observed: 2 });
  expect(findAcceptedDifference(list, "one", at("/a/b"))).toBe(list[0]);
  expect(findAcceptedDifference(list, "two", at("/a/b"))).toBeUndefined();
  expect(findAcceptedDifference(list, "one", at("/z/a/b"))).toBeUndefined();
});
