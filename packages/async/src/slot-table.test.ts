import { expect, test } from "vitest";
import { SlotTable } from "./collections.js";

test("an entry is found by its id until it is removed", () => {
  const table = new SlotTable<string>();
  const a = table.add("a");
  const b = table.add("b");
  expect([...table]).toEqual([
    [a, "a"],
    [b, "b"],
  ]);
  expect(table.remove(a)).toBe("a");
  expect(table.remove(a)).toBeUndefined();
  expect([table.size, [...table]]).toEqual([1, [[b, "b"]]]);
});

test("an id of a removed entry does not name the next one in its slot", () => {
  const table = new SlotTable<string>();
  const first = table.add("first");
  table.remove(first);
  const second = table.add("second");
  expect(second).not.toBe(first);
  expect(table.remove(first)).toBeUndefined();
  expect(table.remove(second)).toBe("second");
});

test("ids that the table never gave name no entry", () => {
  const table = new SlotTable<string>();
  table.remove(table.add("removed"));
  table.add("a");
  table.remove(table.add("b"));
  expect([0, 1, 2 ** 20, 2 ** 20 + 1, Number.NaN, -1, -(2 ** 20), 0.5].map((id) => table.remove(id))).toEqual(Array.from({ length: 8 }));
  expect(table.size).toBe(1);
});

test("entries may be removed while the table is iterated", () => {
  const table = new SlotTable<number>();
  const ids = [0, 1, 2].map((entry) => table.add(entry));
  const seen = [];
  for (const [id, entry] of table) {
    seen.push(entry);
    table.remove(id);
    table.remove(ids[1] as number);
  }
  expect([seen, table.size]).toEqual([[0, 2], 0]);
});
