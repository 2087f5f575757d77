import { performance } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { startHeapGrowthControl } from "./heap-growth.js";

export interface IdleGcOptions {
  /** Interval of the checks, ms. Default 1 s. */
  readonly intervalMs?: number;
  /**
   * Minimum growth of the resident set since the last collection that justifies another, bytes.
   * Default 16 MiB.
   */
  readonly minGrowthBytes?: number;
  /** Consecutive checks that must find the process idle. Default 5. */
  readonly idleChecks?: number;
  /**
   * Growth from which on one idle check is enough, bytes: other processes may need the memory soon.
   * Default 64 MiB.
   */
  readonly urgentGrowthBytes?: number;
  /**
   * Growth that justifies a collection when the last one is `slowChecks` ago, bytes: a small
   * service would keep it for hours, since V8 collects a small heap late. Default 2 MiB.
   */
  readonly slowGrowthBytes?: number;
  /** Checks between two collections for slow growth. Default 60. */
  readonly slowChecks?: number;
  /** Event loop utilization below which the process counts as idle. Default 0.1. */
  readonly maxIdleUtilization?: number;
  /**
   * Maximum growth of the heap of a busy process between two full collections, %. Default 120. A
   * service whose live data are few collects them quickly, so that 60 saves memory at little cost.
   */
  readonly maxHeapGrowthPercent?: number | undefined;
  /** Replaces the process's own value in tests. */
  readonly readRssBytes?: () => number;
  readonly runGc?: () => void;
}

const MIB = 1024 * 1024;

/**
 * Size of the pool of small buffers, bytes, instead of Node's 8 KiB: 16 pages with malloc's header,
 * which are mapped separately where `MALLOC_MMAP_THRESHOLD_` is lower and return to the system when
 * none of their buffers is left. Smaller pools stay in malloc's heap and keep free memory between
 * them: 15 to 20 MiB per service after 100,000 tasks.
 */
const BUFFER_POOL_BYTES = 64 * 1024 - 64;

/**
 * Returns memory to the system after a load. V8 collects when it allocates: a process that became
 * idle keeps what its busiest minute took. When the process is idle and has grown, this runs a full
 * collection, which also returns the pages. Objects held at that moment may be free a little later
 * without new growth: while more is left than the lowest value after a collection, it collects
 * again, with doubling delays. Slow growth is collected once a minute. It also enlarges the pool of
 * small buffers, and bounds the heap growth of a busy process.
 *
 * @returns a function that stops it.
 */
export function startIdleGc({
  intervalMs = 1_000,
  minGrowthBytes = 16 * MIB,
  idleChecks = 5,
  urgentGrowthBytes = 64 * MIB,
  slowGrowthBytes = 2 * MIB,
  slowChecks = 60,
  maxIdleUtilization = 0.1,
  maxHeapGrowthPercent,
  readRssBytes = () => process.memoryUsage.rss(),
  runGc = lastResortGc(),
}: IdleGcOptions = {}): () => void {
  const stopHeapGrowthControl = startHeapGrowthControl(maxHeapGrowthPercent);
  Buffer.poolSize = BUFFER_POOL_BYTES;
  let baselineBytes = 0;
  /** Lowest resident set after a collection. */
  let minRssBytes = Number.POSITIVE_INFINITY;
  /** Checks since the last collection, and the number before the next repetition. */
  let checksSinceGc = 0;
  let checksUntilRetry = idleChecks;
  let consecutiveIdle = 0;
  let lastUtilization = performance.eventLoopUtilization();
  const check = (): void => {
    const utilizationNow = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(utilizationNow, lastUtilization);
    lastUtilization = utilizationNow;
    consecutiveIdle = utilization < maxIdleUtilization ? consecutiveIdle + 1 : 0;
    checksSinceGc++;
    if (consecutiveIdle === 0) return;
    const rssBytes = readRssBytes();
    const grown = rssBytes - baselineBytes >= (consecutiveIdle < idleChecks ? urgentGrowthBytes : minGrowthBytes);
    const retry = consecutiveIdle >= idleChecks && checksSinceGc >= checksUntilRetry && rssBytes - minRssBytes >= minGrowthBytes;
    const slow = consecutiveIdle >= idleChecks && checksSinceGc >= slowChecks && rssBytes - baselineBytes >= slowGrowthBytes;
    if (!grown && !retry && !slow) return;
    runGc();
    baselineBytes = readRssBytes();
    minRssBytes = Math.min(minRssBytes, baselineBytes);
    checksUntilRetry = grown || rssBytes - baselineBytes >= minGrowthBytes ? idleChecks : checksUntilRetry * 2;
    checksSinceGc = 0;
    lastUtilization = performance.eventLoopUtilization();
  };
  const timer = setInterval(check, intervalMs);
  timer.unref();
  return () => {
    clearInterval(timer);
    stopHeapGrowthControl();
  };
}

type RunGc = (options: { type: "major"; execution: "sync"; flavor: "last-resort" }) => void;

/** Needs no flag at the start of the process: contexts created later get the function. */
function lastResortGc(): () => void {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as RunGc;
  return () => gc({ type: "major", execution: "sync", flavor: "last-resort" });
}
