import type { CpuInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const LOOKS = 30;

/**
 * Resolves once more than half a processor's time was idle for a moment: what is started then delays nothing. On a machine that is never
 * idle it resolves after thirty looks. Keeps no process alive.
 *
 * @param look the processors and their times since the machine's start, ms
 * @param everyMs between two looks
 */
export async function whenProcessorIdle(look: () => readonly CpuInfo[], everyMs: number): Promise<void> {
  let before = look();
  for (let count = 0; count < LOOKS; count++) {
    await sleep(everyMs, undefined, { ref: false });
    const after = look();
    const idle = sum(after, ({ times }) => times.idle) - sum(before, ({ times }) => times.idle);
    const all = sum(after, total) - sum(before, total);
    // Of all processors' time, half of one's.
    if (idle * after.length * 2 > all) return;
    before = after;
  }
}

function sum(processors: readonly CpuInfo[], part: (processor: CpuInfo) => number): number {
  return processors.reduce((before, processor) => before + part(processor), 0);
}

function total({ times }: CpuInfo): number {
  return times.user + times.nice + times.sys + times.idle + times.irq;
}
