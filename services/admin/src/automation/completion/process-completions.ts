import type { Database, Queryable } from "@flyte-ts/postgres";
import type { Logger } from "@flyte-ts/telemetry";
import type { NotificationsConfig } from "../notification/config-schema.js";
import { type Delivery, insertDeliveries, type PlannedDelivery } from "../store/deliveries.js";
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

/** Size of specs and closures that are claimed at once, bytes. */
const CLAIM_BYTES = 32 << 20;
/** Size of contents from which planned deliveries are inserted, characters. */
const INSERT_LENGTH = 4 << 20;

/**
 * Claims completed executions and writes their deliveries and firings in one transaction, so that a
 * crash releases the claim. Returns the number of claimed executions.
 */
export async function processCompletions({ db, config, logger }: ProcessCompletionsDeps, limit: number): Promise<number> {
  return db.transaction(async (tx) => {
    const rows = await completionQueue.claimCompletions(tx, { limit, maxBytes: CLAIM_BYTES });
    const completed = rows.flatMap((row) => decodeCompletion(row, logger));
    await insertPlanned(tx, planAll(completed, config.notifications, logger));
    if (completed.length > 0) await createFirings(tx, completed, config.triggers);
    return rows.length;
  });
}

/** Inserts deliveries while they are planned, so that few contents are in memory at once. */
async function insertPlanned(tx: Queryable, planned: Iterable<PlannedDelivery>): Promise<void> {
  let part: PlannedDelivery[] = [];
  let length = 0;
  for (const each of planned) {
    part.push(each);
    length += each.delivery.content.length;
    if (length < INSERT_LENGTH) continue;
    await insertDeliveries(tx, part);
    part = [];
    length = 0;
  }
  await insertDeliveries(tx, part);
}

function* planAll(completed: readonly CompletedExecution[], config: NotificationsConfig, logger: Logger): Generator<PlannedDelivery> {
  for (const execution of completed) {
    for (const delivery of planOrSkip(execution, config, logger)) yield { execution, delivery };
  }
}

/** Skips an execution whose messages cannot be planned, so that it does not block the others. */
function planOrSkip(execution: CompletedExecution, config: NotificationsConfig, logger: Logger): readonly Delivery[] {
  const { project, domain, name } = execution;
  const about = { execution: `${project}/${domain}/${name}` };
  try {
    return planDeliveries(execution, config, (omission) => logger.warn({ ...about, omission }, "notifications are incomplete"));
  } catch (error) {
    logger.error({ ...about, error: String(error) }, "notifications skipped: they cannot be planned");
    return [];
  }
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
