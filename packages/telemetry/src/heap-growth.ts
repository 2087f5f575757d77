import { constants, type PerformanceEntry, PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";

const MIB = 1024 * 1024;

/** By so much of what a full collection left the heap may grow until the next, %, at least and at most. */
const LEAST_PERCENT = 60;
const MOST_PERCENT = 160;
/** A heap may grow by so much between: that of a busy service which holds little would else be collected each second. */
const ROOM_BYTES = 72 * MIB;
/** What a service holds that does nothing, and its heap stays small. */
const IDLE_BYTES = 24 * MIB;

/** By how much of what it holds a heap may grow until it is collected as a whole, %. */
export function heapGrowthPercent(heldBytes: number): number {
  if (heldBytes < IDLE_BYTES) return LEAST_PERCENT;
  return Math.round(Math.min(MOST_PERCENT, Math.max(LEAST_PERCENT, (100 * ROOM_BYTES) / heldBytes)));
}

/**
 * Sets after each full collection how far V8's heap may grow until the next, by what it left. By itself V8 lets a heap grow to a multiple,
 * which many services of one machine cannot afford; with a part that is small enough for large heaps small ones are collected all the time.
 *
 * @param set in place of V8's flag, for tests.
 * @returns ends it.
 */
export function setHeapGrowth(set: (percent: number) => void = setFlag): () => void {
  const follow = () => set(heapGrowthPercent(getHeapStatistics().used_heap_size));
  const observer = new PerformanceObserver((list) => {
    if (list.getEntries().some(isFullCollection)) follow();
  });
  follow();
  observer.observe({ entryTypes: ["gc"] });
  return () => observer.disconnect();
}

function setFlag(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}

function isFullCollection(entry: PerformanceEntry & { readonly detail?: unknown }): boolean {
  return (entry.detail as { readonly kind?: number } | undefined)?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
