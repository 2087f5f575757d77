import { type Closeable, closeAll, startPeriodic } from "@flyte-ts/async";
import { taskFailures } from "@flyte-ts/postgres";
import { createBindings } from "../../identity/index.js";
import { pruneFinished, startWorker } from "../../platform/index.js";
import type { AutomationDeps } from "../deps.js";
import { createFiringHandler } from "./fire.js";
import { FIRINGS } from "../store/firings.js";
import { triggerMetrics } from "./metrics.js";

const PRUNE_EVERY_MS = 600_000;

/** Processes the firings of triggers. Any number of replicas share the work. */
export function startTriggers(deps: AutomationDeps): Closeable {
  const { db, config, clock, logger } = deps;
  const { outcomes } = triggerMetrics(deps.metrics, db);
  const bindings = config.auth.mode === "required" ? createBindings({ db, auth: config.auth, clock, logger }).current : undefined;
  const failures = taskFailures(db, logger);
  const parts = [
    startWorker(deps, createFiringHandler({ ...deps, bindings, outcomes })),
    startPeriodic(
      {
        name: "pruning of trigger firings",
        intervalMs: PRUNE_EVERY_MS,
        batchSize: 5_000,
        run: (limit) => pruneFinished(db, FIRINGS, { keepDays: config.triggers.keepDays, limit }),
        errorMessage: "old firings of triggers could not be deleted; retrying",
      },
      failures,
    ),
  ];
  return closeAll(parts);
}
