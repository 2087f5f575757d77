import { eager, t, task } from "@flyte-ts/sdk";

export const score = task({ inputs: { C: t.float }, outputs: t.float }, ({ C }) => 1 - 1 / (1 + C));

/** Searches with ordinary asynchronous code; every `run` is an execution of its own. */
export const untilGood = eager(
  { inputs: { goal: t.float }, outputs: { C: t.float, score: t.float }, concurrency: 4 },
  async ({ goal }, { log }) => {
    for (let C = 0.1; ; C *= 10) {
      const [low, high] = await Promise.all([score.run({ C }), score.run({ C: C * 3 })]);
      log.info("tried", { C, low, high });
      if (Math.max(low, high) >= goal || C > 1e3) return low >= goal ? { C, score: low } : { C: C * 3, score: high };
    }
  },
);
