import { setTimeout as sleep } from "node:timers/promises";
import { eager, t, task } from "@flyte-ts/sdk";

export const slow = task({ inputs: { x: t.int, seconds: t.int }, outputs: t.int }, async ({ x, seconds }, { signal }) => {
  await sleep(seconds * 1_000, undefined, { signal });
  return x * 10;
});

/** Runs two children at a time, and then one that needs both. */
export const sums = eager({ inputs: { seconds: t.int }, outputs: t.int, retries: 2 }, async ({ seconds }) => {
  const [a, b] = await Promise.all([slow.run({ x: 1, seconds }), slow.run({ x: 2, seconds })]);
  return slow.run({ x: a + b, seconds: 0 });
});
