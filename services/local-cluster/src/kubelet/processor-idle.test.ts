import type { CpuInfo } from "node:os";
import { expect, test } from "vitest";
import { whenProcessorIdle } from "./processor-idle.js";

/** One look at two processors that were idle for so many of 100 ms each, added up. */
function looks(idle: readonly (readonly [number, number])[]): () => CpuInfo[] {
  const times = [0, 0];
  let count = 0;
  return () => {
    const step = idle[count++];
    if (step === undefined) throw new Error("it goes on looking");
    return step.map((ms, index) => {
      times[index] = (times[index] ?? 0) + ms;
      const one = times[index];
      return { model: "", speed: 0, times: { user: count * 100 - one, nice: 0, sys: 0, idle: one, irq: 0 } };
    });
  };
}

test("waits for a time, not for ever", async () => {
  await expect(whenProcessorIdle(looks(Array.from({ length: 31 }, () => [0, 0] as const)), 1)).resolves.toBeUndefined();
});

test("waits while all processors are busy, for the rest of one that is not", async () => {
  const idle = [
    [100, 100],
    [0, 0],
    [20, 20],
    [0, 60],
  ] as const;
  await whenProcessorIdle(looks(idle), 1);
  await expect(whenProcessorIdle(looks(idle.slice(0, 3)), 1)).rejects.toThrow("it goes on looking");
});
