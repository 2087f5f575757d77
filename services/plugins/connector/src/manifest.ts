import { defineService, leaderElectionPermission } from "@flyte-ts/service-manifest";

export const manifest = defineService({
  id: "plugin-connector",
  description: "Runs tasks on connectors: gRPC services that start jobs elsewhere, such as those of flytekit.",
  plane: "data",
  optional: true,
  opsPort: 10_263,
  requires: {
    // Connectors announce the plugin's task types, so it has no fixed consumers.
    bus: {
      publishes: [
        "flyte.event.task.*",
        "flyte.plugin.hello",
        "flyte.plugin.hello.*",
        // Shows which task types other services have received.
        "$JS.API.CONSUMER.LIST.FLYTE_TASKS",
      ],
      subscribes: ["flyte.plugin.hello", "flyte.plugin.hello.*"],
      readsStreams: ["FLYTE_PROBES", "FLYTE_DEAD_LETTERS", "FLYTE_HELD", "FLYTE_TASKS", "FLYTE_EVENTS"],
      consumes: [{ stream: "FLYTE_TASKS", durable: "*" }],
    },
    blobStore: {},
    kubernetes: "own",
  },
  connects: { "endpoints.*.address": "connectors" },
  permissions: [leaderElectionPermission],
  kubernetes: {
    comment: "One replica leads, the other is a standby.",
    resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "1Gi" } },
    podFields: { LEAD__NAMESPACE: "metadata.namespace" },
  },
  settings: {
    kubernetes: { lead: { enabled: true } },
  },
  metricsPrefix: "flyte_plugin_",
});
