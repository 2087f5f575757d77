import { Gauge, type Metrics } from "@flyte-ts/telemetry";
import type { JobController } from "./controller/job-controller.js";

/** Registers the metrics of the operators' resources and pods. */
export function registerJobMetrics(registry: Metrics, controller: Pick<JobController, "watch" | "endingCount">): void {
  const { watch } = controller;
  new Gauge({
    name: "flyte_plugin_operator_resources",
    help: "Resources of operators that the service follows; a kind without a series is not served by the cluster",
    labelNames: ["kind"],
    registers: [registry],
    collect() {
      this.reset();
      for (const [kind, count] of watch.jobs.counts()) this.set({ kind }, count);
    },
  });
  new Gauge({
    name: "flyte_plugin_operator_pods",
    help: "Pods below these resources",
    registers: [registry],
    collect() {
      this.set(watch.podCount);
    },
  });
  new Gauge({
    name: "flyte_plugin_operator_ending",
    help: "Ended jobs whose end is not reported yet, since their resources or pods still exist",
    registers: [registry],
    collect() {
      this.set(controller.endingCount);
    },
  });
}
