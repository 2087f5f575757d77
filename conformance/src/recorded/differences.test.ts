import { expect, test } from "vitest";
import { acceptance, differences, idle } from "./differences.js";

test("differing leaves are told by path; what depends on installation or timing is left out", () => {
  const recorded = { a: [1, { b: "x" }], lab: 1, soft: 2, empty: {}, gone: true, blobs: ["a", "b"] };
  const here = { a: [1, { b: "y" }, 3], lab: 2, soft: 3, empty: {}, blobs: ["b", "c"] };
  expect(differences(recorded, here)).toEqual([
    { path: "/a[1]/b", recorded: "x", here: "y" },
    { path: "/a[2]", recorded: "<absent>", here: 3 },
    { path: "/blobs/a", recorded: true, here: "<absent>" },
    { path: "/blobs/c", recorded: "<absent>", here: true },
    { path: "/gone", recorded: true, here: "<absent>" },
  ]);
});

test("an accepted difference covers its cases and the whole path only", () => {
  const list = [{ cases: ["one"], path: "/a/.*", reason: "because" }];
  const at = (path: string) => ({ path, recorded: 1, here: 2 });
  expect(acceptance(list, "one", at("/a/b"))).toBe(list[0]);
  expect(acceptance(list, "two", at("/a/b"))).toBeUndefined();
  expect(acceptance(list, "one", at("/z/a/b"))).toBeUndefined();
});

test("entries that accept nothing are told, as far as their cases were compared", () => {
  const entry = (path: string, cases?: readonly string[]) => ({ path, reason: "because", ...(cases && { cases }) });
  const list = [entry("/a", ["one", "two"]), entry("/a", ["three"]), entry("/a"), entry("/b"), entry("/a", ["unknown"])];
  const names = ["one", "two", "three"];
  const at = (path: string) => [{ path, recorded: 1, here: 2 }];
  const some = new Map([
    ["one", at("/a")],
    ["two", []],
  ]);
  expect(idle(list, names, some)).toEqual([
    { entry: list[0], cases: ["two"] },
    { entry: list[4], cases: ["unknown"] },
  ]);
  const all = new Map([...some, ["three", at("/b")]]);
  expect(idle(list, names, all).map(({ entry: { path, cases } }) => [path, cases])).toEqual([
    ["/a", ["one", "two"]],
    ["/a", ["three"]],
    ["/a", undefined],
    ["/a", ["unknown"]],
  ]);
});
