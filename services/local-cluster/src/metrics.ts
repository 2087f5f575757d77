import { Gauge, type Metrics } from "@flyte-ts/telemetry";
import type { ObjectStore } from "./store/object-store.js";

export interface MetricSources {
  readonly store: ObjectStore;
  readonly watches: () => number;
  readonly pods: () => number;
}

/** Figures for `/metrics`, read when they are asked for. */
export function registerMetrics(metrics: Metrics, { store, watches, pods }: MetricSources): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name: `flyte_ts_local_cluster_${name}`,
      help,
      registers: [metrics],
      collect() {
        this.set(read());
      },
    });
  gauge("revision", "Writes so far.", () => store.revision);
  gauge("undurable_writes", "Writes that are not on disk yet.", () => store.revision - store.durableRevision);
  gauge("watches", "Open watches.", watches);
  gauge("pods", "Pods that have not ended.", pods);
  new Gauge({
    name: "flyte_ts_local_cluster_objects",
    help: "Objects by resource.",
    labelNames: ["resource"],
    registers: [metrics],
    collect() {
      for (const resource of store.resources()) this.set({ resource }, store.count(resource));
    },
  });
}
