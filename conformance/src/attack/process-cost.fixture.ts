import { readFileSync, writeFileSync } from "node:fs";
import { processorSeconds } from "../stack/processor-seconds.js";

/** Resources that a process spent while something was done to it. */
export interface Cost {
  /** Processor time of all threads, in milliseconds; /proc counts in steps of 10. */
  readonly processorMs: number;
  /** Growth of the resident set from before to its highest point, in bytes. */
  readonly peakBytes: number;
}

/** Most that any refused request may cost the process that refuses it. */
export const MOST: Cost = { processorMs: 100, peakBytes: 64 * 1024 * 1024 };

/** Measures a process while `act` runs. The process must belong to the caller: its peak is reset first (proc(5), clear_refs). */
export async function costOf(pid: number, act: () => Promise<unknown>): Promise<Cost> {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const before = { seconds: processorSeconds(pid), bytes: statusBytes(pid, "VmRSS") };
  await act();
  return {
    processorMs: Math.round((processorSeconds(pid) - before.seconds) * 1000),
    peakBytes: Math.max(0, statusBytes(pid, "VmHWM") - before.bytes),
  };
}

/** Repeats a measurement until one stays within the bounds: collections of garbage and background work only ever add. */
export async function leastCost(pid: number, bounds: Cost, act: () => Promise<unknown>, tries = 5): Promise<Cost> {
  let least: Cost = { processorMs: Infinity, peakBytes: Infinity };
  for (let count = 0; count < tries; count++) {
    const cost = await costOf(pid, act);
    least = {
      processorMs: Math.min(least.processorMs, cost.processorMs),
      peakBytes: Math.min(least.peakBytes, cost.peakBytes),
    };
    if (least.processorMs <= bounds.processorMs && least.peakBytes <= bounds.peakBytes) break;
  }
  return least;
}

/** Says where a refusal cost more than {@link MOST}; nothing where it did not. */
export async function excessOf(pid: number, act: () => Promise<unknown>): Promise<string[]> {
  const { processorMs, peakBytes } = await leastCost(pid, MOST, act);
  return [
    ...(processorMs > MOST.processorMs ? [`${processorMs} ms of processor time`] : []),
    ...(peakBytes > MOST.peakBytes ? [`${peakBytes} bytes of memory`] : []),
  ];
}

function statusBytes(pid: number, name: string): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  if (found === null) throw new Error(`/proc/${pid}/status has no ${name}`);
  return Number(found[1]) * 1024;
}
