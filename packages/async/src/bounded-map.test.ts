import fc from "fast-check";
import { expect, test } from "vitest";
import { BoundedMap, BoundedSet } from "./bounded-map.js";

test("a bounded map holds the entries that were set last", () => {
  const step = fc.record({ kind: fc.constantFrom("set", "set", "delete"), key: fc.nat(9), value: fc.nat() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step), (maxEntries, steps) => {
      const map = new BoundedMap<number, number>(maxEntries);
      let model: [number, number][] = [];
      for (const { kind, key, value } of steps) {
        model = model.filter(([known]) => known !== key);
        if (kind === "delete") map.delete(key);
        else {
          map.set(key, value);
          model = [...model, [key, value] as [number, number]].slice(-maxEntries);
        }
        expect([...map]).toEqual(model);
      }
    }),
  );
});

test("reading an entry does not keep it", () => {
  const map = new BoundedMap<string, number>(2).set("a", 1).set("b", 2);
  expect(map.get("a")).toBe(1);
  map.set("c", 3);
  expect([...map.keys()]).toEqual(["b", "c"]);
});

test("a bounded set holds the values that were added last", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 6 }), fc.array(fc.nat(9)), (maxEntries, values) => {
      const set = new BoundedSet<number>(maxEntries);
      for (const value of values) set.add(value);
      const latest = [...new Set(values.toReversed())].slice(0, maxEntries).toReversed();
      expect([...set]).toEqual(latest);
    }),
  );
});
