import { expect, test } from "vitest";
import { NODE_STATES } from "../../../node-table/table/node-state.js";
import { NODE_GROUPS } from "../../../route/execution-search.js";
import { countGroups, filterOf } from "./node-groups.js";

test("each node is counted in one group, those from the cache and gates that wait apart", () => {
  const byPhase = [0, 1, 2, 30, 4, 5, 6, 7, 8, 9, 10];
  const groups = countGroups({ byPhase, cached: 3, waiting: 4 }, []);
  expect(groups.map(({ group, count }) => [group, count])).toEqual([
    ["succeeded", 37],
    ["cached", 3],
    ["running", 7],
    ["waiting", 4],
    ["queued", 1],
    ["failed", 17],
    ["aborted", 6],
    ["skipped", 7],
  ]);
  const total = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);
  expect(total(groups.map(({ count }) => count))).toBe(total(byPhase));
});

test("a group without nodes is shown only while it filters them", () => {
  const counts = { byPhase: [0, 0, 0, 5], cached: 0, waiting: 0 };
  expect(countGroups(counts, []).map(({ group }) => group)).toEqual(["succeeded"]);
  expect(countGroups(counts, ["failed"]).map(({ group, count }) => [group, count])).toEqual([
    ["succeeded", 5],
    ["failed", 0],
  ]);
});

test("the filters of all groups let every state through, and none filters nothing", () => {
  expect([...(filterOf(NODE_GROUPS).states ?? [])].sort()).toEqual([...NODE_STATES].sort());
  expect(filterOf([])).toEqual({});
});
