import type { Database } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import type { NotificationsConfig } from "../notification/config-schema.js";
import { insertDeliveries } from "../store/deliveries.js";
import { planDeliveries } from "../notification/plan.js";
import type { TriggersConfig } from "../trigger/config-schema.js";
import { createFirings } from "../trigger/match-completions.js";
import { type CompletedExecution, completedExecution } from "../model/completed-execution.js";
import { completionQueue } from "../../executions/index.js";

export interface ProcessCompletionsDeps {
  readonly db: Database;
  readonly config: { readonly notifications: NotificationsConfig; readonly triggers: Pick<TriggersConfig, "maxDepth"> };
  readonly logger: Logger;
}

/**
 * Claims completed executions and writes their deliveries and firings in one transaction, so that a
 * crash releases the claim. Returns the number of claimed executions.
 */
export async function processCompletions({ db, config, logger }: ProcessCompletionsDeps, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = await completionQueue.claimCompletions(tx, limit);
    const completed = rows.flatMap((row) => decodeCompletion(row, logger));
    await insertDeliveries(
      tx,
      completed.flatMap((execution) => planDeliveries(execution, config.notifications).map((delivery) => ({ execution, delivery }))),
    );
    if (completed.length > 0) await createFirings(tx, completed, config.triggers);
    return rows.length;
  });
}

/** Skips a row that cannot be decoded, so that it does not block the others. */
function decodeCompletion(row: completionQueue.CompletedRow, logger: Logger): CompletedExecution[] {
  try {
    return [completedExecution(row)];
  } catch (error) {
    const execution = `${row.execution_project}/${row.execution_domain}/${row.execution_name}`;
    logger.error({ execution, error: String(error) }, "completion skipped: execution row cannot be decoded");
    return [];
  }
}
