import { writeFileSync } from "node:fs";
import { memoryBytes } from "@flyte-ts/testing";
import { cpuSecondsOf } from "../../stack/cpu-time.js";
import { measureSlowdown } from "./processor-slowdown.fixture.js";

/** Resources that a process used during an operation. */
export interface Cost {
  /** Processor time of all threads, ms; /proc counts in steps of 10 ms. */
  readonly processorMs: number;
  /** Growth of the resident set from the start to its peak, bytes. */
  readonly peakBytes: number;
}

/**
 * Maximum cost of a refused request in the process that refuses it; processor time counts as on a
 * quiet machine.
 */
export const MAX_REFUSAL_COST: Cost = { processorMs: 100, peakBytes: 64 * 1024 * 1024 };

/**
 * Starts measuring a process and resets its peak (proc(5), clear_refs), so the process must belong
 * to the caller. The returned function gives the cost since the start.
 */
function startMeasurement(pid: number): () => Cost {
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const before = { seconds: cpuSecondsOf(pid), bytes: memoryBytes(pid, "VmRSS") };
  return () => ({
    processorMs: Math.round((cpuSecondsOf(pid) - before.seconds) * 1000),
    peakBytes: Math.max(0, memoryBytes(pid, "VmHWM") - before.bytes),
  });
}

/** Measures a process while `act` runs. */
export async function costOf(pid: number, act: () => Promise<unknown>): Promise<Cost> {
  const cost = startMeasurement(pid);
  await act();
  return cost();
}

/**
 * Repeats a measurement until one stays within the bounds: garbage collection and background work
 * only add to it.
 */
export async function minimumCost(pid: number, bounds: Cost, act: () => Promise<unknown>, tries = 5): Promise<Cost> {
  let least: Cost = { processorMs: Infinity, peakBytes: Infinity };
  for (let count = 0; count < tries; count++) {
    const cost = atQuietSpeed(await costOf(pid, act), bounds);
    least = {
      processorMs: Math.min(least.processorMs, cost.processorMs),
      peakBytes: Math.min(least.peakBytes, cost.peakBytes),
    };
    if (least.processorMs <= bounds.processorMs && least.peakBytes <= bounds.peakBytes) break;
  }
  return least;
}

/** Describes where a refusal exceeded `most`; undefined when it stayed within. */
export async function excessOf(pid: number, act: () => Promise<unknown>, most = MAX_REFUSAL_COST): Promise<string[]> {
  return excessIn(await minimumCost(pid, most, act), most);
}

/** Converts a processor time above the bound to that of a quiet machine. */
function atQuietSpeed(cost: Cost, { processorMs }: Cost): Cost {
  return cost.processorMs <= processorMs ? cost : { ...cost, processorMs: Math.round(cost.processorMs / measureSlowdown()) };
}

function excessIn({ processorMs, peakBytes }: Cost, most: Cost): string[] {
  return [
    ...(processorMs > most.processorMs ? [`${processorMs} ms of processor time`] : []),
    ...(peakBytes > most.peakBytes ? [`${peakBytes} bytes of memory`] : []),
  ];
}

/**
 * Describes which process exceeded `most` during one act; undefined as soon as one try stays within
 * it.
 */
export async function excessOfEach(
  pids: Readonly<Record<string, number>>,
  { most, tries }: { readonly most: Cost; readonly tries: number },
  act: () => Promise<unknown>,
): Promise<string[]> {
  let excess: string[] = [];
  for (let count = 0; count < tries; count++) {
    const costs = Object.entries(pids).map(([name, pid]) => ({ name, cost: startMeasurement(pid) }));
    await act();
    excess = costs.flatMap(({ name, cost }) => excessIn(atQuietSpeed(cost(), most), most).map((text) => `${name}: ${text}`));
    if (excess.length === 0) break;
  }
  return excess;
}
