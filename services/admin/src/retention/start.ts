import { setTimeout as sleep } from "node:timers/promises";
import type { AdminDeps } from "../deps.js";
import { startRounds } from "../launcher/rounds.js";
import type { Running } from "../launcher/start.js";
import { carryOut } from "./carry-out.js";
import { retentionMetrics } from "./metrics.js";
import { sweep, trimAuditLog } from "./sweep.js";

const LOOK_EVERY_MS = 2_000;
const TRIM_EVERY_MS = 60_000;

/** Applies retention policies and does the deletions that are due. Any number of replicas share the work. */
export function startRetention(deps: AdminDeps): Running {
  const { config, logger } = deps;
  const metrics = retentionMetrics(deps.metrics, deps.db);
  const { sweepSeconds, concurrency } = config.retention;
  const parts = [
    startRounds(
      {
        everyMs: sweepSeconds * 1_000,
        // A sweep goes through all that is due.
        batch: Number.POSITIVE_INFINITY,
        work: () => sweep(deps),
        trouble: "retention policies cannot be applied now",
      },
      logger,
    ),
    startRounds(
      {
        everyMs: LOOK_EVERY_MS,
        batch: concurrency,
        work: (limit) => carryOut({ ...deps, metrics, sleep: (ms) => sleep(ms) }, limit),
        trouble: "executions cannot be deleted now",
      },
      logger,
    ),
    startRounds(
      {
        everyMs: TRIM_EVERY_MS,
        batch: 5_000,
        work: (limit) => trimAuditLog(deps, metrics, limit),
        trouble: "the audit log cannot be trimmed now",
      },
      logger,
    ),
  ];
  return { close: async () => void (await Promise.all(parts.map((part) => part.close()))) };
}
