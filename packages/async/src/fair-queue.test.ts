import fc from "fast-check";
import { expect, test } from "vitest";
import { FairQueue } from "./fair-queue.js";

test("queues are served round-robin, and each keeps its order", () => {
  const lanes = new FairQueue<string>();
  for (let index = 0; index < 1_000; index++) lanes.push("long", `l${index}`);
  lanes.push("short", "s0");
  lanes.push("short", "s1");
  expect(Array.from({ length: 6 }, () => lanes.dequeue())).toEqual(["l0", "s0", "l1", "s1", "l2", "l3"]);
});

test("returns each item once, in the order of its queue, with items put in front", () => {
  const step = fc.record({ kind: fc.constantFrom("push", "push", "unshift", "take"), lane: fc.constantFrom("a", "b", "c") });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const lanes = new FairQueue<string>();
      const model = new Map<string, string[]>(["a", "b", "c"].map((name) => [name, []]));
      /** Pairs that must be equal. */
      const taking: [string | undefined, string | undefined][] = [];
      steps.forEach(({ kind, lane }, at) => {
        const items = model.get(lane) ?? [];
        if (kind === "push") {
          lanes.push(lane, `${lane}${at}`);
          items.push(`${lane}${at}`);
        } else if (kind === "unshift") {
          lanes.unshift(lane, [`${lane}${at}`, `${lane}${at}+`]);
          items.unshift(`${lane}${at}`, `${lane}${at}+`);
        } else {
          const next = lanes.peek();
          const taken = lanes.dequeue();
          taking.push([next, taken], [taken, model.get(taken?.slice(0, 1) ?? "")?.shift()]);
        }
        expect(lanes.size).toBe([...model.values()].flat().length);
        expect(lanes.peek() === undefined).toBe(lanes.size === 0);
      });
      for (const [one, other] of taking) expect(one).toBe(other);
    }),
  );
});
