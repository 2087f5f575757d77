import { type Closeable, closeAll, startPeriodic } from "@flyte-ts/async";
import { forgetDone } from "../background/lease.js";
import { startWorker } from "../background/worker.js";
import type { AdminDeps } from "../deps.js";
import { deliveryWork } from "../notification/deliver.js";
import { DELIVERIES } from "../notification/delivery-store.js";
import { notificationMetrics } from "../notification/metrics.js";
import { createSend } from "../notification/send.js";
import { tellEndsOnce } from "./tell-ends.js";

export type EndedDeps = Pick<AdminDeps, "db" | "config" | "clock" | "random" | "logger" | "metrics" | "env">;

const ENDS_EVERY_MS = 500;
const SEND_EVERY_MS = 500;
const FORGET_EVERY_MS = 600_000;

/** Starts notifications and triggers for completed executions. Any number of replicas share the work. */
export function startTellingEnds(deps: EndedDeps): Closeable {
  const { db, clock, random, logger, env } = deps;
  const { notifications: config } = deps.config;
  const { tries } = notificationMetrics(deps.metrics, db);
  const send = createSend({ config, env, clock });
  const sender = startWorker(
    { db, logger },
    deliveryWork({ db, config, send, random, logger, tries }, { inFlight: 32, perLane: 8, pollMs: SEND_EVERY_MS }),
  );
  const tell = async (limit: number): Promise<number> => {
    const ends = await tellEndsOnce(deps, limit);
    if (ends > 0) sender.wake();
    return ends;
  };
  const parts = [
    startPeriodic(
      {
        intervalMs: ENDS_EVERY_MS,
        batchSize: 200,
        run: tell,
        errorMessage: "ends of executions cannot be told now",
      },
      logger,
    ),
    sender,
    startPeriodic(
      {
        intervalMs: FORGET_EVERY_MS,
        batchSize: 5_000,
        run: (limit) => forgetDone(db, DELIVERIES, { keepDays: config.keepDays, limit }),
        errorMessage: "old notifications cannot be removed now",
      },
      logger,
    ),
  ];
  return closeAll(parts);
}
