import { createBindings } from "../access/bindings.js";
import type { AdminDeps } from "../deps.js";
import { startRounds } from "../launcher/rounds.js";
import type { Running } from "../launcher/start.js";
import { fireOnce } from "./fire.js";
import { forgetFirings } from "./firing-store.js";
import { triggerMetrics } from "./metrics.js";

const FIRE_EVERY_MS = 500;
const FORGET_EVERY_MS = 600_000;

/** Starts what triggers start. Any number of replicas share the work. */
export function startTriggers(deps: AdminDeps): Running {
  const { db, config, clock, logger } = deps;
  const { outcomes } = triggerMetrics(deps.metrics, db);
  const bindings = config.auth.mode === "required" ? createBindings({ db, auth: config.auth, clock, logger }).current : undefined;
  const parts = [
    startRounds(
      {
        everyMs: FIRE_EVERY_MS,
        batch: 16,
        work: (limit) => fireOnce({ ...deps, bindings, outcomes }, limit),
        trouble: "firings of triggers cannot be taken now",
      },
      logger,
    ),
    startRounds(
      {
        everyMs: FORGET_EVERY_MS,
        batch: 5_000,
        work: (limit) => forgetFirings(db, { keepDays: config.triggers.keepDays, limit }),
        trouble: "old firings of triggers cannot be removed now",
      },
      logger,
    ),
  ];
  return { close: async () => void (await Promise.all(parts.map((part) => part.close()))) };
}
