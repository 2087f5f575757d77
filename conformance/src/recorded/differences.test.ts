import { expect, test } from "vitest";
import { accepted, differences } from "./differences.js";

test("differing leaves are told by path; what depends on installation or timing is left out", () => {
  const recorded = { a: [1, { b: "x" }], lab: 1, soft: 2, empty: {}, gone: true };
  const here = { a: [1, { b: "y" }, 3], lab: 2, soft: 3, empty: {} };
  expect(differences(recorded, here)).toEqual([
    { path: "/a[1]/b", recorded: "x", here: "y" },
    { path: "/a[2]", recorded: "<absent>", here: 3 },
    { path: "/gone", recorded: true, here: "<absent>" },
  ]);
});

test("an accepted difference covers its cases and the whole path only", () => {
  const list = [{ cases: ["one"], path: "/a/.*", reason: "because" }];
  const at = (path: string) => ({ path, recorded: 1, here: 2 });
  expect(accepted(list, "one", at("/a/b"))).toBe("because");
  expect(accepted(list, "two", at("/a/b"))).toBeUndefined();
  expect(accepted(list, "one", at("/z/a/b"))).toBeUndefined();
});
