import { type Running, startRounds, together } from "@flyte-ts/telemetry";
import { createBindings } from "../../identity/index.js";
import { pruneFinished, startWorker } from "../../platform/index.js";
import type { AutomationDeps } from "../deps.js";
import { createFiringHandler } from "./fire.js";
import { FIRINGS } from "../store/firings.js";
import { triggerMetrics } from "./metrics.js";

const PRUNE_EVERY_MS = 600_000;

/** Processes the firings of triggers. Any number of replicas share the work. */
export function startTriggers(deps: AutomationDeps): Running {
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
