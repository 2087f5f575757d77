import { expect, test } from "vitest";
import { ABSENT, differences } from "./differences.js";

test("differing leaves are listed by path, without those that depend on installation or timing", () => {
  const recorded = { a: [1, { b: "x" }], lab: 1, soft: 2, empty: {}, gone: true, blobs: ["a/0", "b"] };
  const observed = { a: [1, { b: "y" }, 3], lab: 2, soft: 3, empty: {}, blobs: ["b", "c"] };
  expect(differences(recorded, observed)).toEqual([
    { path: "/a[1]/b", at: ["a", 1, "b"], recorded: "x", observed: "y" },
    { path: "/a[2]", at: ["a", 2], recorded: ABSENT, observed: 3 },
    { path: "/blobs/a/0", at: ["blobs", "a/0"], recorded: true, observed: ABSENT },
    { path: "/blobs/c", at: ["blobs", "c"], recorded: ABSENT, observed: true },
    { path: "/gone", at: ["gone"], recorded: true, observed: ABSENT },
  ]);
});
