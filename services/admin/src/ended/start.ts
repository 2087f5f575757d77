import type { AdminDeps } from "../deps.js";
import { startRounds } from "../launcher/rounds.js";
import type { Running } from "../launcher/start.js";
import { forgetDeliveries } from "../notification/delivery-store.js";
import { notificationMetrics } from "../notification/metrics.js";
import { createSend } from "../notification/send.js";
import { startSender } from "../notification/sender.js";
import { tellEndsOnce } from "./tell-ends.js";

export type EndedDeps = Pick<AdminDeps, "db" | "config" | "clock" | "random" | "logger" | "metrics" | "env">;

const ENDS_EVERY_MS = 500;
const SEND_EVERY_MS = 500;
const FORGET_EVERY_MS = 600_000;

/** Tells those whom ends of executions concern. Any number of replicas share the work. */
export function startTellingEnds(deps: EndedDeps): Running {
  const { db, clock, random, logger, env } = deps;
  const { notifications: config } = deps.config;
  const { tries } = notificationMetrics(deps.metrics, db);
  const send = createSend({ config, env, clock });
  const parts = [
    startRounds(
      {
        everyMs: ENDS_EVERY_MS,
        batch: 200,
        work: (limit) => tellEndsOnce(deps, limit),
        trouble: "ends of executions cannot be told now",
      },
      logger,
    ),
    startSender({ db, config, send, random, logger, tries }, { inFlight: 32, perLane: 8, pollMs: SEND_EVERY_MS }),
    startRounds(
      {
        everyMs: FORGET_EVERY_MS,
        batch: 5_000,
        work: (limit) => forgetDeliveries(db, { keepDays: config.keepDays, limit }),
        trouble: "old notifications cannot be removed now",
      },
      logger,
    ),
  ];
  return { close: async () => void (await Promise.all(parts.map((part) => part.close()))) };
}
