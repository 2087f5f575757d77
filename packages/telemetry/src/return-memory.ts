import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

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
 * Gives memory back to the machine after large work. V8 collects when it allocates: a
 * process that has become idle keeps what its busiest minute took. So when the process
 * is idle and has grown, this collects all there is, which also hands the pages back.
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
  let baseline = 0;
  let calm = 0;
  let last = performance.eventLoopUtilization();
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, last);
    last = now;
    calm = utilization < idleBelow ? calm + 1 : 0;
    if (calm === 0) return;
    const growth = residentBytes() - baseline;
    if (growth < (calm < calmLooks ? largeGrowthBytes : growthBytes)) return;
    collect();
    baseline = residentBytes();
    last = performance.eventLoopUtilization();
  };
  const timer = setInterval(look, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

type Collect = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** Without a flag at the start of the process: contexts that are made later get the function. */
function lastResortCollection(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as Collect;
  return () => gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
