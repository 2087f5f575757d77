import { PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";

const MIB = 1024 * 1024;

/**
 * Minimum and maximum growth of the heap between two full collections, % of the size after the
 * first.
 */
const MIN_GROWTH_PERCENT = 60;
const MAX_GROWTH_PERCENT = 120;
/**
 * Garbage that any heap may hold: otherwise a busy service with little live data would collect
 * every second. The measured size includes some garbage already.
 */
const GARBAGE_BUDGET_BYTES = 120 * MIB;
/** Heap size of an idle service, which stays small. */
const IDLE_HEAP_BYTES = 32 * MIB;

/**
 * Allowed growth after a full collection of a heap of this size, %.
 *
 * @param maxPercent highest growth, at least 60
 */
export function heapGrowthPercent(usedBytes: number, maxPercent = MAX_GROWTH_PERCENT): number {
  if (usedBytes < IDLE_HEAP_BYTES) return MIN_GROWTH_PERCENT;
  return Math.round(Math.min(maxPercent, Math.max(MIN_GROWTH_PERCENT, (100 * GARBAGE_BUDGET_BYTES) / usedBytes)));
}

/**
 * Sets V8's allowed heap growth between two full collections according to the heap's size. By
 * default V8 lets a heap grow to a multiple, which is too much for many services on one machine; a
 * percentage small enough for large heaps would collect small ones all the time. V8 reads the
 * percentage at the end of a full collection, so it is set before, from the heap size after each
 * small collection. With the size after the previous full collection, a fast-growing heap, like
 * that of 100,000 nodes, would far exceed its bound.
 *
 * @param setPercent replaces V8's flag in tests.
 * @returns a function that stops it.
 */
export function startHeapGrowthControl(maxPercent?: number, setPercent: (percent: number) => void = setV8Flag): () => void {
  let last: number | undefined;
  const update = () => {
    const percent = heapGrowthPercent(getHeapStatistics().used_heap_size, maxPercent);
    if (percent === last) return;
    last = percent;
    setPercent(percent);
  };
  const observer = new PerformanceObserver(update);
  update();
  observer.observe({ entryTypes: ["gc"] });
  return () => observer.disconnect();
}

function setV8Flag(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
