import { setTimeout as sleep } from "node:timers/promises";
import { LOCAL_BACKEND } from "../backend.js";
import { startManagedStack } from "../managed-stack.js";
import { measureSoak, type SoakOptions } from "./measure-soak.js";
import { recordSoak } from "./record-soak.js";
import type { SoakTenth } from "./soak-figures.js";

/** Applies policies often, so that executions are deleted during the run. */
const SOAK_BACKEND = {
  ...LOCAL_BACKEND,
  env: {
    FLYTE_TS_ADMIN_RETENTION__SWEEPSECONDS: "10",
    FLYTE_TS_ADMIN_RETENTION__GRACESECONDS: "10",
  },
};

export interface RunSoakOptions extends Omit<SoakOptions, "endpoint" | "dataDir" | "onTenth"> {
  /** Folder for the state of the stack; absent: a new one, which is removed. */
  readonly data: string | undefined;
  /** Time between the start of the stack and the first execution, ms. */
  readonly warmupMs: number;
  /** Write the results to bench/results, docs/benchmarks.md and a plot. */
  readonly record: boolean;
  readonly print: (line: object) => void;
}

/**
 * Measures a soak on a stack of its own.
 *
 * @returns the exit code: 1 unless all counts agree
 */
export async function runSoak({ data, warmupMs, record, print, ...options }: RunSoakOptions): Promise<number> {
  const own = await startManagedStack(SOAK_BACKEND, data);
  try {
    await sleep(warmupMs);
    const tenths: SoakTenth[] = [];
    const onTenth = (tenth: SoakTenth) => {
      tenths.push(tenth);
      print(tenth);
    };
    const counts = await measureSoak({ ...options, endpoint: own.endpoint, dataDir: own.dataDir, onTenth });
    print(counts);
    if (record) recordSoak(tenths, counts);
    return new Set([options.warmupExecutions + options.executions, ...Object.values(counts)]).size === 1 ? 0 : 1;
  } finally {
    await own.stop();
  }
}
