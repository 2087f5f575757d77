import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { setHeapGrowth } from "./heap-growth.js";

export interface ReturnMemoryOptions {
  /** How often to look, ms. Default 1 s. */
  readonly everyMs?: number;
  /** Growth of the resident set since the last collection from which on one is worth its while, bytes. Default 16 MiB. */
  readonly growthBytes?: number;
  /** Looks in a row that must find the process idle. Default 5. */
  readonly calmLooks?: number;
  /** Growth from which on one idle look is enough, bytes: others may need it for what comes next. Default 64 MiB. */
  readonly largeGrowthBytes?: number;
  /** The process counts as idle when its event loop worked for less than this part of the time. Default 0.1. */
  readonly idleBelow?: number;
  /** In place of the process's own, for tests. */
  readonly residentBytes?: () => number;
  readonly collect?: () => void;
}

const MIB = 1024 * 1024;

/**
 * Small buffers share memory of so many bytes instead of Node's 8 KiB: 16 pages with what malloc adds, which stand by themselves where
 * `MALLOC_MMAP_THRESHOLD_` is below it and go back to the machine when none of their buffers is left. Smaller ones stay in malloc's heap
 * and keep free memory between them: 15 to 20 MiB of each service after 100,000 tasks.
 */
const SHARED_BYTES = 64 * 1024 - 64;

/**
 * Gives memory back to the machine after large work. V8 collects when it allocates: a
 * process that has become idle keeps what its busiest minute took. So when the process
 * is idle and has grown, this collects all there is, which also hands the pages back.
 * What was held at that moment may be free a little later, and then nothing grows: so while
 * more is left than ever was after a collection, it collects again, after pauses that double. Small buffers are taken
 * from memory that can go back, and a working process lets its heap grow by what it holds.
 *
 * @returns ends it.
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
  /** The least that a collection has left. */
  let least = Number.POSITIVE_INFINITY;
  /** Looks since the last collection, and how many must pass before what it left is collected again. */
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

/** Without a flag at the start of the process: contexts that are made later get the function. */
function lastResortCollection(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as Collect;
  return () => gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
