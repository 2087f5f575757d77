import { expect, test } from "vitest";
import { ABSENT, differences } from "./differences.js";

test("differing leaves are told by path; what depends on installation or timing is left out", () => {
  const recorded = { a: [1, { b: "x" }], lab: 1, soft: 2, empty: {}, gone: true, blobs: ["a/0", "b"] };
  const observed = { a: [1, { b: "y" }, 3], lab: 2, soft: 3, empty: {}, blobs: ["b", "c"] };
  expect(differences(recorded, observed)).toEqual([
    { path: "/a[1]/b", at: ["a", 1, "b"], recorded: "x", here: "y" },
    { path: "/a[2]", at: ["a", 2], recorded: ABSENT, here: 3 },
    { path: "/blobs/a/0", at: ["blobs", "a/0"], recorded: true, here: ABSENT },
    { path: "/blobs/c", at: ["blobs", "c"], recorded: ABSENT, here: true },
    { path: "/gone", at: ["gone"], recorded: true, here: ABSENT },
  ]);
});
