import { expect, it } from "vitest";
import { PublishWindow } from "./publish-window.js";

it("lets so many in at once, in the order of their coming", async () => {
  const window = new PublishWindow(3);
  const order: number[] = [];
  let inside = 0;
  let most = 0;
  const pass = async (index: number): Promise<void> => {
    if (!window.tryEnter()) await window.enter();
    order.push(index);
    most = Math.max(most, ++inside);
    await new Promise(setImmediate);
    inside--;
    window.leave();
  };
  const all = Array.from({ length: 5_000 }, (_, index) => index);
  await Promise.all(all.map(pass));
  expect(order).toEqual(all);
  expect(most).toBe(3);
  expect([window.tryEnter(), window.tryEnter(), window.tryEnter(), window.tryEnter()]).toEqual([true, true, true, false]);
});
