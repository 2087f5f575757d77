import { type Running, startRounds, together } from "@flyte-ts/telemetry";
import { startFirstStatistics } from "../background/first-statistics.js";
import type { AdminDeps } from "../deps.js";
import { settleOnce } from "../settle/settle.js";
import { forceAborts } from "./force-abort.js";
import { repairOnce } from "./repair.js";

/** An execution is compared with its resource when nothing was heard of it for so long, and then as often. */
const QUIET_MS = 60_000;
/** The ends of nodes and attempts have so long, after that of their execution, to be reported. */
const UNREPORTED_MS = 60_000;
const REPAIR_EVERY_MS = 15_000;

/** Keeps rows true to what nobody reports: lost ends, aborts without answer. Any number of replicas share the work. */
export function startUpkeep(deps: AdminDeps): Running {
  const { logger, clusters } = deps;
  const deadlineMs = deps.config.abort.deadlineSeconds * 1_000;
  const parts = [
    startFirstStatistics(deps.db, logger),
    startRounds(
      {
        everyMs: Math.min(Math.max(deadlineMs / 4, 100), 5_000),
        batch: 100,
        work: (limit) => forceAborts(deps, { deadlineMs, limit }),
        trouble: "overdue aborts cannot be ended now",
      },
      logger,
    ),
    startRounds(
      {
        everyMs: REPAIR_EVERY_MS,
        batch: 500,
        work: (limit) => settleOnce(deps, { endedMs: UNREPORTED_MS, limit }),
        trouble: "ended executions cannot be settled now",
      },
      logger,
    ),
  ];
  if (clusters.length > 0) {
    const repair = {
      everyMs: REPAIR_EVERY_MS,
      batch: 200,
      work: (limit: number) => repairOnce(deps, { quietMs: QUIET_MS, limit }),
      trouble: "executions cannot be compared with their resources now",
    };
    parts.push(startRounds(repair, logger));
  }
  return together(parts);
}
