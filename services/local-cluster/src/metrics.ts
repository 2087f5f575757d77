import { Counter, Gauge, type Metrics } from "@flyte-ts/telemetry";
import type { StartOrigin } from "./kubelet/warm/warm-start.js";
import type { ObjectStore } from "./store/object-store.js";

/** Registers the counter of containers that started; returns its increment. */
export function countStarts(metrics: Metrics): (origin: StartOrigin) => void {
  const starts = new Counter({
    name: "flyte_ts_local_cluster_container_starts_total",
    help: "Containers that started by the origin of their processes: a new one, a fork, or a spare.",
    labelNames: ["origin"],
    registers: [metrics],
  });
  return (origin) => starts.inc({ origin });
}

export interface MetricSources {
  readonly store: ObjectStore;
  readonly watches: () => number;
  readonly pods: () => number;
}

/** Registers gauges that are computed on request. */
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
  gauge("revision", "Revision of the store: number of writes since its creation.", () => store.revision);
  gauge("undurable_writes", "Writes that are not durable yet.", () => store.revision - store.durableRevision);
  gauge("watches", "Number of open watches.", watches);
  gauge("pods", "Number of pods that have not ended.", pods);
  new Gauge({
    name: "flyte_ts_local_cluster_objects",
    help: "Number of stored objects by resource.",
    labelNames: ["resource"],
    registers: [metrics],
    collect() {
      for (const resource of store.resources()) this.set({ resource }, store.count(resource));
    },
  });
}
