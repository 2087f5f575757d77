import fc from "fast-check";
import { expect, test } from "vitest";
import { BinaryHeap } from "./binary-heap.js";

test("pops items in the order of a sorted list, for any sequence of pushes and pops", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer())), (steps) => {
      const heap = new BinaryHeap<number>((a, b) => a < b);
      let model: number[] = [];
      for (const step of steps) {
        const expected = step === null ? model[0] : undefined;
        if (step !== null) heap.push(step);
        expect(step === null ? heap.pop() : undefined).toBe(expected);
        model = step === null ? model.slice(1) : [...model, step].sort((a, b) => a - b);
        expect([heap.size, heap.peek()]).toEqual([model.length, model[0]]);
      }
    }),
  );
});
