import { expect, test } from "vitest";
import { acceptance } from "./accepted-differences.js";

test("an accepted difference covers its cases and the whole path only", () => {
  const list = [{ cases: ["one"], path: "/a/.*", reason: "because" }];
  const at = (path: string) => ({ path, at: [], recorded: 1, here: 2 });
  expect(acceptance(list, "one", at("/a/b"))).toBe(list[0]);
  expect(acceptance(list, "two", at("/a/b"))).toBeUndefined();
  expect(acceptance(list, "one", at("/z/a/b"))).toBeUndefined();
});
