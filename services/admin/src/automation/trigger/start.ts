import { type Closeable, closeAll, startPeriodic } from "@flyte-ts/async";
import { createBindings } from "../../identity/access/bindings.js";
import { pruneFinished } from "../../platform/work-queue/lease.js";
import { startWorker } from "../../platform/work-queue/worker.js";
import type { AdminDeps } from "../../deps.js";
import { createFiringHandler } from "./fire.js";
import { FIRINGS } from "../store/firings.js";
import { triggerMetrics } from "./metrics.js";

const PRUNE_EVERY_MS = 600_000;

/** Processes the firings of triggers. Any number of replicas share the work. */
export function startTriggers(deps: AdminDeps): Closeable {
  const { db, config, clock, logger } = deps;
  const { outcomes } = triggerMetrics(deps.metrics, db);
  const bindings = config.auth.mode === "required" ? createBindings({ db, auth: config.auth, clock, logger }).current : undefined;
  const parts = [
    startWorker(deps, createFiringHandler({ ...deps, bindings, outcomes })),
    startPeriodic(
      {
        intervalMs: PRUNE_EVERY_MS,
        batchSize: 5_000,
        run: (limit) => pruneFinished(db, FIRINGS, { keepDays: config.triggers.keepDays, limit }),
        errorMessage: "old firings of triggers cannot be removed now",
      },
      logger,
    ),
  ];
  return closeAll(parts);
}
