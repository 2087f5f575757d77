import type { Queryable } from "@flyte-ts/postgres";
import { Counter, Gauge, type Metrics } from "@flyte-ts/telemetry";
import { countPendingFirings } from "../store/firings.js";

/** Metrics of triggers; pending firings are counted on scrape. */
export function triggerMetrics(registry: Metrics, db: Queryable): { readonly outcomes: Counter<"outcome"> } {
  new Gauge({
    name: "flyte_admin_trigger_firings_waiting",
    help: "Firings of triggers that are waiting.",
    registers: [registry],
    async collect() {
      // Reports nothing as pending while the database is unavailable, which has its own probe.
      this.set(await countPendingFirings(db).catch(() => 0));
    },
  });
  return {
    outcomes: new Counter({
      name: "flyte_admin_trigger_firings_total",
      help: "Firings of triggers, by outcome.",
      labelNames: ["outcome"],
      registers: [registry],
    }),
  };
}
