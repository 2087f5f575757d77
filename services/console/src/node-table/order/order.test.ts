import fc from "fast-check";
import { expect, test } from "vitest";
import { nodeRows, tableOf } from "../table/table.fixture.js";
import { NODE_STATES, NodeState } from "../table/node-state.js";
import { type NodeRow, nodeRow } from "../wire/chunk.fixture.js";
import { isOpen, keepAncestors, matchRows } from "./filter.js";
import { idOfGroup, MAX_UNGROUPED, type RowId } from "./group.js";
import { isExpanded, listByStart, listSlowest, listTree } from "./list-rows.js";
import { sortRows } from "./sort-rows.js";
import { buildTree, childCount } from "./tree.js";

test("rows are sorted by values, equal ones by row", () => {
  const value = fc.oneof(
    fc.nat({ max: 20 }),
    fc.constant(Number.POSITIVE_INFINITY),
    fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    fc.maxSafeNat(),
  );
  fc.assert(
    fc.property(fc.array(value, { maxLength: 60 }), fc.array(fc.nat({ max: 59 })), (values, places) => {
      const rows = [...new Set(places.filter((row) => row < values.length))];
      const sorted = Int32Array.from(rows);
      sortRows(sorted, Float64Array.from(values));
      const of = (row: number): number => values[row] ?? Number.NaN;
      expect([...sorted]).toEqual(rows.toSorted((a, b) => (of(a) === of(b) ? a - b : of(a) < of(b) ? -1 : 1)));
    }),
  );
});

/** Lists keys and depths of a tree, all open and without groups, from the rows themselves. */
function naiveTree(rows: readonly NodeRow[], isKept: (row: NodeRow) => boolean): [key: number, depth: number][] {
  const keys = new Set(rows.map(({ key }) => key));
  const below = (parent: number, depth: number): [number, number][] =>
    rows
      .map((row, at) => ({ row, at }))
      .filter(({ row }) => (keys.has(row.parent) ? row.parent : 0) === parent && isKept(row))
      .sort((a, b) => a.row.queued - b.row.queued || a.at - b.at)
      .flatMap(({ row }) => [[row.key, depth] as [number, number], ...below(row.key, depth + 1)]);
  return below(0, 0);
}

test("a tree lists children below their parents, by the time they were queued", () => {
  fc.assert(
    fc.property(nodeRows(), (rows) => {
      const table = tableOf(rows);
      const order = listTree({ table, tree: buildTree(table), expansion: new Map() });
      const listed = Array.from({ length: order.length }, (_, place) => [table.key[order.entries[place] ?? -1], order.depth[place]]);
      expect(listed).toEqual(naiveTree(rows, () => true));
      for (let place = 0; place < order.length; place++) expect(order.placeOf[order.entries[place] ?? -1]).toBe(place);
    }),
  );
});

test("a filter keeps matches and the nodes around them", () => {
  const filter = fc.record(
    {
      states: fc.subarray([...NODE_STATES]),
      text: fc.constantFrom("n1", "LOAD", "train", ""),
      errorCode: fc.constantFrom("", "OOM", "no such code"),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(nodeRows(), filter, (rows, given) => {
      const table = tableOf(rows);
      const tree = buildTree(table);
      const matches = matchRows(table, given);
      const text = given.text?.toLowerCase() ?? "";
      const isMatch = (row: NodeRow, at: number): boolean =>
        (given.states?.includes(NODE_STATES[table.state[at] ?? 0] ?? "failed") ?? true) &&
        [row.id, row.entity].some((each) => each.toLowerCase().includes(text)) &&
        ["", row.error].includes(given.errorCode ?? "");
      expect([...matches]).toEqual(rows.map((row, at) => (isMatch(row, at) ? 1 : 0)));
      expect(!isOpen(given) || matches.every((each) => each === 1)).toBe(true);
      const kept = keepAncestors(matches, tree);
      const naiveKept = new Set<number>();
      const byKey = new Map(rows.map((row) => [row.key, row]));
      for (const [at, row] of rows.entries())
        for (let each: NodeRow | undefined = matches[at] === 1 ? row : undefined; each !== undefined; each = byKey.get(each.parent))
          naiveKept.add(each.key);
      const order = listTree({ table, tree, kept, expansion: new Map() });
      expect([...order.entries.subarray(0, order.length)].map((row) => table.key[row])).toEqual(
        naiveTree(rows, ({ key }) => naiveKept.has(key)).map(([key]) => key),
      );
    }),
  );
});

test("orders without a tree are by start and by the time that a node ran", () => {
  fc.assert(
    fc.property(nodeRows(), fc.nat({ max: 2000 }), (rows, nowMs) => {
      const table = tableOf(rows);
      const byKeys = (order: { readonly entries: Int32Array; readonly length: number }) => [...order.entries.subarray(0, order.length)];
      const started = (at: number): number => rows[at]?.started ?? Number.POSITIVE_INFINITY;
      const ran = (at: number): number =>
        started(at) === Number.POSITIVE_INFINITY ? -1 : Math.max(Math.min(rows[at]?.ended ?? nowMs, nowMs) - started(at), 0);
      const places = rows.map((_, at) => at);
      const ascending = (a: number, b: number, value: (at: number) => number): number =>
        value(a) === value(b) ? a - b : value(a) < value(b) ? -1 : 1;
      expect(byKeys(listByStart(table))).toEqual(places.toSorted((a, b) => ascending(a, b, started)));
      expect(byKeys(listSlowest(table, nowMs))).toEqual(places.toSorted((a, b) => ascending(a, b, (at) => -ran(at))));
    }),
  );
});

test("more than 200 children are grouped by state, and a group opens", () => {
  const members = Array.from({ length: MAX_UNGROUPED + 1 }, (_, at) => nodeRow({ key: at + 2, parent: 1, phase: at % 10 === 0 ? 5 : 3 }));
  const table = tableOf([nodeRow({ key: 1, flags: 1 }), ...members]);
  const tree = buildTree(table);
  const list = (...open: RowId[]) => listTree({ table, tree, expansion: new Map(open.map((id) => [id, true])) });
  expect(childCount(tree, 0)).toBe(MAX_UNGROUPED + 1);
  expect(isExpanded({ table, tree, expansion: new Map() }, 1)).toBe(false);
  expect(list().length).toBe(1);
  const grouped = list("n1");
  expect([grouped.length, grouped.groupAt(1)?.members.length, grouped.groupAt(2)?.members.length]).toEqual([3, 21, 180]);
  expect([[...grouped.position].slice(0, 3), [...grouped.siblings].slice(0, 3)]).toEqual([
    [1, 1, 2],
    [1, 2, 2],
  ]);
  const opened = list("n1", idOfGroup({ parentKey: 1, state: NodeState.failed }));
  expect(opened.length).toBe(3 + 21);
  expect([opened.depth[2], opened.position[2], opened.siblings[2], opened.placeOf[1]]).toEqual([2, 1, 21, 2]);
  expect([...opened.above.subarray(0, 4), opened.above[23]]).toEqual([-1, 0, 1, 1, 0]);
});
