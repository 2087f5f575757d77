import { setTimeout as sleep } from "node:timers/promises";
import { type Closeable, closeAll, startPeriodic } from "@flyte-ts/async";
import { taskFailures } from "@flyte-ts/postgres";
import { startWorker } from "../../platform/index.js";
import type { AutomationDeps } from "../deps.js";
import { createDeletionHandler } from "./deletion/deletion-handler.js";
import { deleteLateRows } from "./deletion/delete-late-rows.js";
import { retentionMetrics } from "./deletion/metrics.js";
import { sweep, pruneAuditLog } from "./sweep.js";

const PRUNE_EVERY_MS = 60_000;
const LATE_ROWS_EVERY_MS = 60_000;

/** Applies retention policies and processes deletions. Any number of replicas share the work. */
export function startRetention(deps: AutomationDeps): Closeable {
  const { config, db, logger } = deps;
  const failures = taskFailures(db, logger);
  const metrics = retentionMetrics(deps.metrics, deps.db);
  const { sweepSeconds } = config.retention;
  const parts = [
    startPeriodic(
      {
        name: "retention policies",
        intervalMs: sweepSeconds * 1_000,
        // A sweep processes everything that is due.
        batchSize: Number.POSITIVE_INFINITY,
        run: () => sweep(deps),
        errorMessage: "retention policies could not be applied; retrying",
      },
      failures,
    ),
    startWorker(deps, createDeletionHandler({ ...deps, metrics, sleep: (ms) => sleep(ms) })),
    startPeriodic(
      {
        name: "late rows of deleted executions",
        intervalMs: LATE_ROWS_EVERY_MS,
        batchSize: 1_000,
        run: (limit) => deleteLateRows(deps, limit),
        errorMessage: "rows written after the deletion of their execution could not be deleted; retrying",
      },
      failures,
    ),
    startPeriodic(
      {
        name: "pruning of the audit log",
        intervalMs: PRUNE_EVERY_MS,
        batchSize: 5_000,
        run: (limit) => pruneAuditLog(deps, metrics, limit),
        errorMessage: "old audit log entries could not be deleted; retrying",
      },
      failures,
    ),
  ];
  return closeAll(parts);
}
