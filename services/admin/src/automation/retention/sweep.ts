import { isUnavailable } from "@flyte-ts/postgres";
import type { AutomationDeps } from "../deps.js";
import { expiryQueries } from "../../executions/index.js";
import { deleteAuditEntriesBefore } from "../../identity/index.js";
import { expiredExecutions } from "./due.js";
import { markDeletions, planDeletions } from "./mark.js";
import type { RetentionMetrics } from "./deletion/metrics.js";

type Deps = Pick<AutomationDeps, "db" | "config" | "clock" | "logger">;

/** Executions per query. */
const BATCH = 200;

/**
 * Marks executions whose retention has expired, in all projects and domains. Continues after a
 * project whose policies cannot be applied. Returns the number of marked trees.
 */
export async function sweep(deps: Deps): Promise<number> {
  const { db, logger } = deps;
  let marked = 0;
  for (const place of await expiryQueries.listProjectDomains(db)) {
    try {
      marked += await sweepPlace(deps, place);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      logger.error({ ...place, error: String(error) }, "retention policies of a project cannot be applied");
    }
  }
  if (marked > 0) logger.info({ executions: marked }, "deleting executions by retention policy");
  return marked;
}

async function sweepPlace({ db, config, clock }: Deps, place: expiryQueries.ProjectDomain): Promise<number> {
  let marked = 0;
  let after: expiryQueries.ExpiryCursor | undefined;
  for (;;) {
    const now = clock();
    const due = await expiredExecutions(db, config.retention, { place, now, limit: BATCH, after });
    const plan = await planDeletions(
      db,
      due.map(({ id }) => id),
    );
    const beginsAt = new Date(now.getTime() + config.retention.graceSeconds * 1_000);
    await markDeletions(db, plan.deletions, { at: now, beginsAt, byPolicy: true, requestedBy: "" });
    marked += plan.deletions.length;
    after = due.at(-1)?.after;
    if (due.length < BATCH) return marked;
  }
}

/** Deletes up to `limit` expired entries of the audit log. Returns their number. */
export async function pruneAuditLog(
  { db, config, clock }: Deps,
  metrics: Pick<RetentionMetrics, "auditEntries">,
  limit: number,
): Promise<number> {
  const { auditLogDays } = config.retention;
  if (auditLogDays === 0) return 0;
  const count = await deleteAuditEntriesBefore(db, new Date(clock().getTime() - auditLogDays * 86_400_000), limit);
  metrics.auditEntries.inc(count);
  return count;
}
