import fc from "fast-check";
import { assert, expect, test } from "vitest";
import { LruCache } from "./lru-cache.js";

interface Value {
  readonly weight: number;
}

test("evicts the least recently used entries, as a list in order of use does", () => {
  const step = fc.record({ kind: fc.constantFrom("get", "set"), key: fc.constantFrom("a", "b", "c", "d", "e"), weight: fc.nat(12) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const maxWeight = 10;
      const cache = new LruCache<Value>(maxWeight);
      let model: { readonly key: string; readonly value: Value }[] = [];
      const weightOf = () => model.reduce((sum, { value }) => sum + value.weight, 0);
      for (const { kind, key, weight } of steps) {
        const found = model.find((entry) => entry.key === key);
        if (kind === "get") {
          assert.equal(cache.get(key), found?.value);
          if (found !== undefined) model = [...model.filter((entry) => entry !== found), found];
        } else {
          const value = { weight };
          cache.setIfAbsent(key, value, weight);
          if (found === undefined && weight <= maxWeight) model.push({ key, value });
          while (weightOf() > maxWeight) model.shift();
        }
        expect(cache.weight).toBe(weightOf());
      }
      for (const { key, value } of model) expect(cache.get(key)).toBe(value);
    }),
  );
});
