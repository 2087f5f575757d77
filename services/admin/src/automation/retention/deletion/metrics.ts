import type { Queryable } from "@flyte-ts/postgres";
import { Counter, Gauge, type Metrics } from "@flyte-ts/telemetry";
import { deletionQueue } from "../../../executions/index.js";

export interface RetentionMetrics {
  readonly executions: Counter<"by">;
  readonly blobs: Counter;
  readonly failures: Counter;
  readonly cancelled: Counter;
  readonly auditEntries: Counter;
}

/** Metrics of deletions; pending ones are counted on scrape. */
export function retentionMetrics(registry: Metrics, db: Queryable): RetentionMetrics {
  const registers = [registry];
  new Gauge({
    name: "flyte_admin_deletions_waiting",
    help: "Executions that are being deleted.",
    registers,
    async collect() {
      // Reports nothing as pending while the database is unavailable, which has its own probe.
      this.set(await deletionQueue.countDeletions(db).catch(() => 0));
    },
  });
  return {
    executions: new Counter({
      name: "flyte_admin_executions_deleted_total",
      help: "Executions deleted, by policy or request.",
      labelNames: ["by"],
      registers,
    }),
    blobs: new Counter({ name: "flyte_admin_blobs_deleted_total", help: "Blobs of executions deleted.", registers }),
    failures: new Counter({
      name: "flyte_admin_deletion_failures_total",
      help: "Failed attempts to delete an execution; each is retried.",
      registers,
    }),
    cancelled: new Counter({
      name: "flyte_admin_deletions_withdrawn_total",
      help: "Deletions that were cancelled because another execution needs the execution.",
      registers,
    }),
    auditEntries: new Counter({
      name: "flyte_admin_audit_entries_trimmed_total",
      help: "Old entries of the audit log that were deleted.",
      registers,
    }),
  };
}
