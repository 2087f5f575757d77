import type { Queryable } from "@flyte-ts/postgres";
import { Counter, type Metrics } from "@flyte-ts/telemetry";
import { registerQueueGauges } from "../../platform/index.js";
import { PENDING_DELIVERIES } from "../store/deliveries.js";

/** Metrics of notifications. */
export function notificationMetrics(registry: Metrics, db: Queryable): { readonly attempts: Counter<"channel" | "outcome"> } {
  registerQueueGauges(registry, db, {
    query: PENDING_DELIVERIES,
    label: "channel",
    kinds: ["email", "slack", "webhook"],
    entries: { name: "flyte_admin_notifications_waiting", help: "Notifications that are waiting to be sent, by channel." },
    age: { name: "flyte_admin_notifications_age_seconds", help: "Age of the oldest waiting notification, by channel." },
  });
  return {
    attempts: new Counter({
      name: "flyte_admin_notification_tries_total",
      help: "Attempts to send a notification, by channel and outcome.",
      labelNames: ["channel", "outcome"],
      registers: [registry],
    }),
  };
}
