import type { Queryable } from "@flyte-ts/postgres";
import { Counter, Gauge, type Metrics } from "@flyte-ts/telemetry";
import { readWaiting } from "./deliver.js";

const CHANNELS = ["email", "slack", "webhook"] as const;

/** What is told of notifications; what waits is read when Prometheus asks. */
export function notificationMetrics(registry: Metrics, db: Queryable): { readonly tries: Counter<"channel" | "outcome"> } {
  // Without the database, whose own probe tells that it is away, nothing is known to wait.
  const waiting = () => readWaiting(db).catch(() => undefined);
  new Gauge({
    name: "flyte_admin_notifications_waiting",
    help: "Notifications that have not been sent, by channel.",
    labelNames: ["channel"],
    registers: [registry],
    async collect() {
      const found = await waiting();
      for (const channel of CHANNELS) this.set({ channel }, found?.get(channel)?.entries ?? 0);
    },
  });
  new Gauge({
    name: "flyte_admin_notifications_age_seconds",
    help: "How long the oldest of them has waited, by channel.",
    labelNames: ["channel"],
    registers: [registry],
    async collect() {
      const found = await waiting();
      for (const channel of CHANNELS) this.set({ channel }, found?.get(channel)?.age ?? 0);
    },
  });
  return {
    tries: new Counter({
      name: "flyte_admin_notification_tries_total",
      help: "Tries to send a notification, by channel and outcome.",
      labelNames: ["channel", "outcome"],
      registers: [registry],
    }),
  };
}
