import { type Closeable, closeAll, startPeriodic } from "@flyte-ts/async";
import { taskFailures } from "@flyte-ts/postgres";
import { startInitialAnalyze } from "../../executions/index.js";
import type { DispatchDeps } from "../deps.js";
import { backfillTerminalPhases } from "./backfill.js";
import { forceAborts } from "./force-abort.js";
import { reconcileStale } from "./reconcile.js";

/**
 * Runs maintenance: reconciles stale executions, backfills terminal phases, forces old aborts. Any
 * number of replicas share the work.
 */
export function startMaintenance(deps: DispatchDeps): Closeable {
  const { db, logger, clusters } = deps;
  const failures = taskFailures(db, logger);
  const deadlineMs = deps.config.abort.deadlineSeconds * 1_000;
  const staleMs = deps.config.repair.quietSeconds * 1_000;
  const everyMs = deps.config.repair.everySeconds * 1_000;
  const parts = [
    startInitialAnalyze(db, logger),
    startPeriodic(
      {
        name: "overdue aborts",
        intervalMs: Math.min(Math.max(deadlineMs / 4, 100), 5_000),
        batchSize: 100,
        run: (limit) => forceAborts(deps, { deadlineMs, limit }),
        errorMessage: "overdue aborts could not be completed; retrying",
      },
      failures,
    ),
    startPeriodic(
      {
        name: "open nodes of ended executions",
        intervalMs: everyMs,
        batchSize: 500,
        run: (limit) => backfillTerminalPhases(deps, { endedMs: staleMs, limit }),
        errorMessage: "open nodes of ended executions could not be closed; retrying",
      },
      failures,
    ),
  ];
  if (clusters.length > 0) {
    const reconcile = {
      name: "stale executions",
      intervalMs: everyMs,
      batchSize: 200,
      run: (limit: number) => reconcileStale(deps, { staleMs, limit }),
      errorMessage: "executions could not be compared with their resources; retrying",
    };
    parts.push(startPeriodic(reconcile, failures));
  }
  return closeAll(parts);
}
