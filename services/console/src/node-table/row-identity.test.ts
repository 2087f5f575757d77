import { expect, test } from "vitest";
import { tableOf } from "./table/table.fixture.js";
import { nodeRow } from "./wire/chunk.fixture.js";
import { keepRows } from "./row-identity.js";
import { rowViews } from "./session/row-view.js";
import { TableView } from "./session/table-view.js";

test("rows that are as before are the same objects, also after scrolling", () => {
  const view = new TableView();
  view.replace(tableOf([1, 2, 3, 4].map((key) => nodeRow({ key }))));
  view.rebuild(0);
  const before = rowViews(view, { from: 0, to: 3 });
  expect(keepRows(before, rowViews(view, { from: 0, to: 3 }))).toBe(before);
  const scrolled = keepRows(before, rowViews(view, { from: 1, to: 4 }));
  expect(scrolled.map(({ nodeId }) => nodeId)).toEqual(["n2", "n3", "n4"]);
  expect(scrolled.slice(0, 2).every((row, at) => row === before[at + 1])).toBe(true);
  const changed = rowViews(view, { from: 0, to: 3 }).map((row) => (row.place === 1 ? { ...row, attempts: 2 } : row));
  const kept = keepRows(before, changed);
  expect([kept[0] === before[0], kept[1] === changed[1], kept[2] === before[2], kept === before]).toEqual([true, true, true, false]);
  expect(keepRows(before, [])).toEqual([]);
});
