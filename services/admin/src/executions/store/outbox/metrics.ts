import type { Queryable } from "@flyte-ts/postgres";
import type { Metrics } from "@flyte-ts/telemetry";
import { registerQueueGauges } from "../../../platform/index.js";

/** Gauges of pending outbox entries. */
export function outboxMetrics(registry: Metrics, db: Queryable): void {
  registerQueueGauges(registry, db, {
    query: {
      name: "outbox-depth",
      text: `SELECT action AS kind, count(*)::int AS entries, extract(epoch FROM now() - min(created_at))::float8 AS age
        FROM execution_outbox GROUP BY action`,
    },
    label: "action",
    kinds: ["launch", "abort"],
    entries: { name: "flyte_admin_outbox_entries", help: "Launches and aborts that are waiting in the outbox, by action." },
    age: { name: "flyte_admin_outbox_age_seconds", help: "Age of the oldest entry of the outbox, by action." },
  });
}
