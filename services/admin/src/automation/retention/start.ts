import { setTimeout as sleep } from "node:timers/promises";
import { type Running, startRounds, together } from "@flyte-ts/telemetry";
import { startWorker } from "../../platform/index.js";
import type { AutomationDeps } from "../deps.js";
import { createDeletionHandler } from "./delete-execution.js";
import { retentionMetrics } from "./metrics.js";
import { sweep, pruneAuditLog } from "./sweep.js";

const PRUNE_EVERY_MS = 60_000;

/** Applies retention policies and processes deletions. Any number of replicas share the work. */
export function startRetention(deps: AutomationDeps): Running {
  const { config, logger } = deps;
  const metrics = retentionMetrics(deps.metrics, deps.db);
  const { sweepSeconds } = config.retention;
  const parts = [
    startRounds(
      {
        everyMs: sweepSeconds * 1_000,
        // A sweep processes everything that is due.
        batch: Number.POSITIVE_INFINITY,
        work: () => sweep(deps),
        trouble: "retention policies cannot be applied now",
      },
      logger,
    ),
    startWorker(deps, createDeletionHandler({ ...deps, metrics, sleep: (ms) => sleep(ms) })),
    startRounds(
      {
        everyMs: PRUNE_EVERY_MS,
        batch: 5_000,
        work: (limit) => pruneAuditLog(deps, metrics, limit),
        trouble: "the audit log cannot be trimmed now",
      },
      logger,
    ),
  ];
  return together(parts);
}
