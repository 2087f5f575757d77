import { defineService } from "@flyte-ts/service-manifest";

export const manifest = defineService({
  id: "scheduler",
  description: "Starts the runs of schedules, each once.",
  plane: "control",
  opsPort: 10_259,
  requires: {
    database: { name: "scheduler", backupPosition: 1 },
    admin: { clientId: "flytescheduler" },
  },
  kubernetes: {
    name: "flytescheduler",
    resources: { requests: { cpu: "50m", memory: "128Mi" }, limits: { memory: "512Mi" } },
  },
  metricsPrefix: "flyte_scheduler_",
});
