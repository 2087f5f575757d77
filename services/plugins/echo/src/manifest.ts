import { defineService } from "@flyte-ts/service-manifest";

export const manifest = defineService({
  id: "plugin-echo",
  description: "Ends tasks at once or after a delay, without a pod.",
  plane: "data",
  taskTypes: ["echo", "core-sleep"],
  opsPort: 10_261,
  requires: { bus: {} },
  kubernetes: {
    resources: { requests: { cpu: "50m", memory: "96Mi" }, limits: { memory: "512Mi" } },
  },
  metricsPrefix: "flyte_plugin_",
});
