import { setTimeout as sleep } from "node:timers/promises";
import type { ManagedStack } from "../managed-stack.js";
import { median } from "../results/result-file.js";
import { runWorkload } from "../run-workload.js";
import { type Cost, type CostSample, separateCosts } from "./cost-model.js";
import { type Counters, readCounters } from "./stack-counters.js";

export interface CostOptions {
  readonly project: string;
  readonly domain: string;
  readonly timeoutMs: number;
  /** Measurements of each size, of which the median counts. */
  readonly repeat: number;
  /** Called after each measurement. */
  readonly onSample: (sample: CostSample) => void;
}

/** Sizes of the executions that are compared: their nodes and how many run at the same time. */
const SIZES = [
  { executions: 200, nodes: 1 },
  { executions: 50, nodes: 41 },
] as const;
/**
 * Time after a run until its final status writes and the statistics of PostgreSQL are complete, ms.
 */
const SETTLE_MS = 7_000;

/** Intervals in which an idle stack is measured. */
const IDLE_INTERVALS = 4;

/** Measures what executions and their nodes cost on a stack, by chains of two lengths in turn. */
export async function measureCost(stack: ManagedStack, options: CostOptions): Promise<Cost> {
  const samples = SIZES.map((): CostSample[] => []);
  for (const size of SIZES) await run(stack, size, options);
  const idle = await perMillisecond(stack);
  for (let turn = 0; turn < options.repeat; turn++)
    for (const [index, size] of SIZES.entries()) {
      const sample = { ...size, counters: await run(stack, size, options, idle) };
      options.onSample(sample);
      samples[index]?.push(sample);
    }
  const [short = [], long = []] = samples;
  return separateCosts(medianSample(short), medianSample(long));
}

/** Runs the executions. Resolves to the increase of the counters beyond that of an idle stack. */
async function run(
  stack: ManagedStack,
  { executions, nodes }: { readonly executions: number; readonly nodes: number },
  { project, domain, timeoutMs }: CostOptions,
  idle: Counters = {},
): Promise<Counters> {
  const before = await readCounters(stack);
  const begun = performance.now();
  const workload = { topology: "chain", size: nodes, executions, taskKind: "echo", sleepSeconds: 0 } as const;
  const { failed } = await runWorkload({ endpoint: stack.endpoint, project, domain, timeoutMs, ...workload });
  if (failed > 0) throw new Error(`${failed} of ${executions} executions failed`);
  await sleep(SETTLE_MS);
  return increase(before, await readCounters(stack), (name) => (idle[name] ?? 0) * (performance.now() - begun));
}

/**
 * Growth of the counters of an idle stack, per millisecond: the least of several intervals, since
 * background work of the database follows the first runs.
 */
async function perMillisecond(stack: ManagedStack): Promise<Counters> {
  let least: Counters = {};
  for (let interval = 0; interval < IDLE_INTERVALS; interval++) {
    const before = await readCounters(stack);
    const begun = performance.now();
    await sleep(SETTLE_MS);
    const growth = increase(before, await readCounters(stack), () => 0);
    const elapsed = performance.now() - begun;
    const last = least;
    least = Object.fromEntries(
      Object.entries(growth).map(([name, value]) => [name, Math.min(last[name] ?? Number.POSITIVE_INFINITY, value / elapsed)]),
    );
  }
  return least;
}

function increase(before: Counters, after: Counters, idle: (name: string) => number): Counters {
  return Object.fromEntries(Object.entries(after).map(([name, value]) => [name, Math.max(0, value - (before[name] ?? 0) - idle(name))]));
}

/** Median of each counter. */
function medianSample(samples: readonly CostSample[]): CostSample {
  const [first] = samples;
  if (first === undefined) throw new Error("nothing was measured");
  const middle = (name: string): number => median(samples.map(({ counters }) => counters[name] ?? 0));
  return { ...first, counters: Object.fromEntries(Object.keys(first.counters).map((name) => [name, middle(name)])) };
}
