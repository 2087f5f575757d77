import { type Closeable, closeAll, startPeriodic } from "@flyte-ts/async";
import { taskFailures } from "@flyte-ts/postgres";
import { pruneFinished, startWorker } from "../../platform/index.js";
import type { AutomationDeps } from "../deps.js";
import { createDeliveryHandler } from "../notification/deliver.js";
import { DELIVERIES } from "../store/deliveries.js";
import { notificationMetrics } from "../notification/metrics.js";
import { createSend } from "../notification/send.js";
import { processCompletions } from "./process-completions.js";

export type CompletionDeps = Pick<AutomationDeps, "db" | "config" | "clock" | "random" | "logger" | "metrics" | "env">;

const COMPLETIONS_EVERY_MS = 500;
const SEND_EVERY_MS = 500;
const PRUNE_EVERY_MS = 600_000;

/**
 * Starts notifications and triggers for completed executions. Any number of replicas share the
 * work.
 */
export function startCompletionProcessor(deps: CompletionDeps): Closeable {
  const { db, clock, random, logger, env } = deps;
  const { notifications: config } = deps.config;
  const { attempts } = notificationMetrics(deps.metrics, db);
  const failures = taskFailures(db, logger);
  const send = createSend({ config, env, clock });
  const sender = startWorker(
    { db, logger },
    createDeliveryHandler({ db, config, send, random, logger, attempts }, { concurrency: 32, perPartition: 8, pollMs: SEND_EVERY_MS }),
  );
  const processBatch = async (limit: number): Promise<number> => {
    const completions = await processCompletions(deps, limit);
    if (completions > 0) sender.wake();
    return completions;
  };
  const parts = [
    startPeriodic(
      {
        name: "completions",
        intervalMs: COMPLETIONS_EVERY_MS,
        batchSize: 200,
        run: processBatch,
        errorMessage: "completions cannot be processed now",
      },
      failures,
    ),
    sender,
    startPeriodic(
      {
        name: "pruning of notifications",
        intervalMs: PRUNE_EVERY_MS,
        batchSize: 5_000,
        run: (limit) => pruneFinished(db, DELIVERIES, { keepDays: config.keepDays, limit }),
        errorMessage: "old notifications cannot be deleted now",
      },
      failures,
    ),
  ];
  return closeAll(parts);
}
