import fc from "fast-check";
import { expect, test } from "vitest";
import { DelayQueue } from "./delay-queue.js";

test("pops due items in the order of a sorted list, for any sequence of sets and deletes", () => {
  const step = fc.record({ kind: fc.constantFrom("set", "set", "delete", "take"), item: fc.nat(9), at: fc.nat(30) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const queue = new DelayQueue<number>();
      const model = new Map<number, number>();
      const first = () => (model.size === 0 ? undefined : Math.min(...model.values()));
      for (const { kind, item, at } of steps) {
        if (kind === "set") {
          queue.set(item, at);
          model.set(item, at);
        } else if (kind === "delete") {
          queue.delete(item);
          model.delete(item);
        }
        const expected = first();
        const isDue = kind === "take" && expected !== undefined && expected <= at;
        const taken = kind === "take" ? queue.popDue(at) : undefined;
        // Items with the same time may come in any order.
        expect(taken === undefined ? undefined : model.get(taken)).toBe(isDue ? expected : undefined);
        if (taken !== undefined) model.delete(taken);
        expect(queue.nextDueAt()).toBe(first());
      }
    }),
  );
});
