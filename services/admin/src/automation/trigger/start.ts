import { type Running, startRounds, together } from "@flyte-ts/telemetry";
import { createBindings } from "../../identity/access/bindings.js";
import { pruneFinished } from "../../platform/work-queue/lease.js";
import { startWorker } from "../../platform/work-queue/worker.js";
import type { AdminDeps } from "../../deps.js";
import { createFiringHandler } from "./fire.js";
import { FIRINGS } from "../store/firings.js";
import { triggerMetrics } from "./metrics.js";

const PRUNE_EVERY_MS = 600_000;

/** Processes the firings of triggers. Any number of replicas share the work. */
export function startTriggers(deps: AdminDeps): Running {
  const { db, config, clock, logger } = deps;
  const { outcomes } = triggerMetrics(deps.metrics, db);
  const bindings = config.auth.mode === "required" ? createBindings({ db, auth: config.auth, clock, logger }).current : undefined;
  const parts = [
    startWorker(deps, createFiringHandler({ ...deps, bindings, outcomes })),
    startRounds(
      {
        everyMs: PRUNE_EVERY_MS,
        batch: 5_000,
        work: (limit) => pruneFinished(db, FIRINGS, { keepDays: config.triggers.keepDays, limit }),
        trouble: "old firings of triggers cannot be removed now",
      },
      logger,
    ),
  ];
  return together(parts);
}
