import type { Queryable } from "@flyte-ts/postgres";
import { Counter, Gauge, type Metrics } from "@flyte-ts/telemetry";

/** What is told of triggers; what waits is read when Prometheus asks. */
export function triggerMetrics(registry: Metrics, db: Queryable): { readonly outcomes: Counter<"outcome"> } {
  new Gauge({
    name: "flyte_admin_trigger_firings_waiting",
    help: "Firings of triggers that have not started anything yet.",
    registers: [registry],
    async collect() {
      // Without the database, whose own probe tells that it is away, nothing is known to wait.
      const waiting = await db
        .query<{ count: number }>({ text: "SELECT count(*)::int AS count FROM trigger_firings WHERE state = 'waiting'" })
        .catch(() => undefined);
      this.set(waiting?.rows[0]?.count ?? 0);
    },
  });
  return {
    outcomes: new Counter({
      name: "flyte_admin_trigger_firings_total",
      help: "Firings of triggers, by what became of the try.",
      labelNames: ["outcome"],
      registers: [registry],
    }),
  };
}
