import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { setHeapGrowth } from "./heap-growth.js";

export interface ReturnMemoryOptions {
  /** Interval of the checks, ms. Default 1 s. */
  readonly everyMs?: number;
  /** Minimum growth of the resident set since the last collection that justifies another, bytes. Default 16 MiB. */
  readonly growthBytes?: number;
  /** Consecutive checks that must find the process idle. Default 5. */
  readonly calmLooks?: number;
  /** Growth from which on one idle check is enough, bytes: other processes may need the memory soon. Default 64 MiB. */
  readonly largeGrowthBytes?: number;
  /** Event loop utilization below which the process counts as idle. Default 0.1. */
  readonly idleBelow?: number;
  /** Replaces the process's own value in tests. */
  readonly residentBytes?: () => number;
  readonly collect?: () => void;
}

const MIB = 1024 * 1024;

/**
 * Size of the pool of small buffers, bytes, instead of Node's 8 KiB: 16 pages with malloc's header, which are mapped
 * separately where `MALLOC_MMAP_THRESHOLD_` is lower and return to the system when none of their buffers is left.
 * Smaller pools stay in malloc's heap and keep free memory between them: 15 to 20 MiB per service after 100,000 tasks.
 */
const SHARED_BYTES = 64 * 1024 - 64;

/**
 * Returns memory to the system after a load. V8 collects when it allocates: a process that became idle keeps what its
 * busiest minute took. When the process is idle and has grown, this runs a full collection, which also returns the
 * pages. Objects held at that moment may be free a little later without new growth: while more is left than the lowest
 * value after a collection, it collects again, with doubling delays. It also enlarges the pool of small buffers, and
 * bounds the heap growth of a busy process.
 *
 * @returns a function that stops it.
 */
export function returnMemory({
  everyMs = 1_000,
  growthBytes = 16 * MIB,
  calmLooks = 5,
  largeGrowthBytes = 64 * MIB,
  idleBelow = 0.1,
  residentBytes = () => process.memoryUsage.rss(),
  collect = lastResortCollection(),
}: ReturnMemoryOptions = {}): () => void {
  const endGrowth = setHeapGrowth();
  Buffer.poolSize = SHARED_BYTES;
  let baseline = 0;
  /** Lowest resident set after a collection. */
  let least = Number.POSITIVE_INFINITY;
  /** Checks since the last collection, and the number before the next repetition. */
  let looks = 0;
  let pause = calmLooks;
  let calm = 0;
  let last = performance.eventLoopUtilization();
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    calm = utilization < idleBelow ? calm + 1 : 0;
    looks++;
    if (calm === 0) return;
    const resident = residentBytes();
    const grown = resident - baseline >= (calm < calmLooks ? largeGrowthBytes : growthBytes);
    const again = calm >= calmLooks && looks >= pause && resident - least >= growthBytes;
    if (!grown && !again) return;
    collect();
    baseline = residentBytes();
    least = Math.min(least, baseline);
    pause = grown || resident - baseline >= growthBytes ? calmLooks : pause * 2;
    looks = 0;
    last = performance.eventLoopUtilization();
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    endGrowth();
  };
}

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** Needs no flag at the start of the process: contexts created later get the function. */
function lastResortCollection(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as Collect;
  return () => gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
