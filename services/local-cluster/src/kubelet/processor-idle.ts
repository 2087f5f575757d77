import type { CpuInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const EVERY_MS = 100;

/**
 * Resolves once more than half a processor's time was idle for a moment: what is started then delays nothing. Keeps no process alive.
 *
 * @param look the processors and their times since the machine's start, ms
 */
export async function whenProcessorIdle(look: () => readonly CpuInfo[]): Promise<void> {
  for (let before = look(); ; ) {
    await sleep(EVERY_MS, undefined, { ref: false });
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
