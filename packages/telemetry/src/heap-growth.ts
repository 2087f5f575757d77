import { PerformanceObserver } from "node:perf_hooks";
import { getHeapStatistics, setFlagsFromString } from "node:v8";

const MIB = 1024 * 1024;

/** By so much of what a full collection leaves the heap may grow until the next, %, at least and at most. */
const LEAST_PERCENT = 60;
const MOST_PERCENT = 120;
/**
 * So much garbage a heap may hold in any case: that of a busy service which holds little would else be collected each second. The
 * heap is measured full, and of what is in it then a part is garbage already.
 */
const ROOM_BYTES = 120 * MIB;
/** The heap of a service that does nothing, which stays small. */
const IDLE_BYTES = 32 * MIB;

/** By how much of what it then holds a heap of this size may grow once it has been collected as a whole, %. */
export function heapGrowthPercent(usedBytes: number): number {
  if (usedBytes < IDLE_BYTES) return LEAST_PERCENT;
  return Math.round(Math.min(MOST_PERCENT, Math.max(LEAST_PERCENT, (100 * ROOM_BYTES) / usedBytes)));
}

/**
 * Sets how far V8's heap may grow between two full collections by how large it is. By itself V8 lets a heap grow to a multiple,
 * which many services of one machine cannot afford; with a part that is small enough for large heaps small ones are collected all the time.
 *
 * V8 asks for the part at the end of a full collection. The heap is measured after each small one, that is before: by what it had
 * left the last time a heap that fills fast, like that of 100,000 nodes, would go far beyond its room.
 *
 * @param set in place of V8's flag, for tests.
 * @returns ends it.
 */
export function setHeapGrowth(set: (percent: number) => void = setFlag): () => void {
  let last: number | undefined;
  const follow = () => {
    const percent = heapGrowthPercent(getHeapStatistics().used_heap_size);
    if (percent === last) return;
    last = percent;
    set(percent);
  };
  const observer = new PerformanceObserver(follow);
  follow();
  observer.observe({ entryTypes: ["gc"] });
  return () => observer.disconnect();
}

function setFlag(percent: number): void {
  setFlagsFromString(`--heap-growing-percent=${percent}`);
}
