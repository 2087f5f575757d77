import { type Closeable, closeAll, startPeriodic } from "@flyte-ts/async";
import { startFirstStatistics } from "../background/first-statistics.js";
import type { AdminDeps } from "../deps.js";
import { settleOnce } from "../settle/settle.js";
import { forceAborts } from "./force-abort.js";
import { repairOnce } from "./repair.js";

/** Runs maintenance: reconciles stale executions, backfills terminal phases, forces old aborts. Any number of replicas share the work. */
export function startUpkeep(deps: AdminDeps): Closeable {
  const { logger, clusters } = deps;
  const deadlineMs = deps.config.abort.deadlineSeconds * 1_000;
  const quietMs = deps.config.repair.quietSeconds * 1_000;
  const everyMs = deps.config.repair.everySeconds * 1_000;
  const parts = [
    startFirstStatistics(deps.db, logger),
    startPeriodic(
      {
        intervalMs: Math.min(Math.max(deadlineMs / 4, 100), 5_000),
        batchSize: 100,
        run: (limit) => forceAborts(deps, { deadlineMs, limit }),
        errorMessage: "overdue aborts cannot be ended now",
      },
      logger,
    ),
    startPeriodic(
      {
        intervalMs: everyMs,
        batchSize: 500,
        run: (limit) => settleOnce(deps, { endedMs: quietMs, limit }),
        errorMessage: "ended executions cannot be settled now",
      },
      logger,
    ),
  ];
  if (clusters.length > 0) {
    const repair = {
      intervalMs: everyMs,
      batchSize: 200,
      run: (limit: number) => repairOnce(deps, { quietMs, limit }),
      errorMessage: "executions cannot be compared with their resources now",
    };
    parts.push(startPeriodic(repair, logger));
  }
  return closeAll(parts);
}
