import { defineService } from "@flyte-ts/service-manifest";

export const manifest = defineService({
  id: "propeller",
  description: "Evaluates FlyteWorkflow resources, requests attempts and reports events.",
  plane: "data",
  opsPort: 10_255,
  requires: {
    bus: {
      publishes: ["flyte.task.*.*", "flyte.event.execution.*", "flyte.event.task.*"],
      subscribes: ["flyte.recorded.*", "flyte.wake.*", "flyte.plugin.hello", "flyte.plugin.hello.*"],
      createsStreams: ["FLYTE_TASKS", "FLYTE_EVENTS"],
      // Replicas choose the names of their consumers.
      consumes: [{ stream: "FLYTE_EVENTS", durable: "*" }],
    },
    blobStore: {},
    kubernetes: "own",
    admin: { clientId: "flytepropeller" },
    catalog: { clientId: "flytepropeller" },
  },
  connects: {
    "events.grpc.endpoint": "remoteAdmin",
    "events.grpc.auth.tokenEndpoint": "https",
    "tracing.endpoint": "traces",
  },
  permissions: [
    {
      scope: "cluster",
      apiGroup: "flyte.lyft.com",
      resources: ["flyteworkflows"],
      verbs: ["delete", "get", "list", "patch", "watch"],
      reason: "Executes FlyteWorkflows, writes their status and deletes old ones.",
      rareVerbs: { delete: "a workflow ended some hours ago" },
    },
    {
      scope: "cluster",
      resources: ["events"],
      verbs: ["create", "patch"],
      reason: "Reports progress as events of the FlyteWorkflow.",
      rareVerbs: { patch: "an event repeats" },
    },
    {
      scope: "namespace",
      apiGroup: "coordination.k8s.io",
      resources: ["leases"],
      verbs: ["create", "delete", "list", "patch", "update", "watch"],
      reason: "Replicas divide the shards by Leases.",
      rareVerbs: { update: "a replica takes over the shard of a dead one" },
    },
    {
      // A Role that names namespaces covers the one that it is in.
      scope: "namespace",
      resources: ["namespaces"],
      verbs: ["get"],
      reason: "Checks that the namespace of its Leases exists.",
    },
  ],
  kubernetes: {
    name: "flytepropeller",
    comment: "A StatefulSet for stable names: a restarted pod takes over the shards of its predecessor at once.",
    kind: "StatefulSet",
    resources: { requests: { cpu: "500m", memory: "384Mi" }, limits: { memory: "2Gi" } },
    podFields: { SHARDS__SLOT: "metadata.name", SHARDS__NAMESPACE: "metadata.namespace" },
  },
  settings: {
    // The manifests contain the resource definition, so propeller needs no permission to create it.
    kubernetes: { kubernetes: { createCrd: false } },
    compose: {
      // Users look at recent runs; a laptop need not keep a day of them.
      garbageCollector: { ttlMinutes: 120, intervalMs: 300_000 },
      storage: { metadataPrefix: "s3://my-s3-bucket/metadata/propeller", rawOutputPrefix: "s3://my-s3-bucket/data" },
    },
    stack: ({ bucket, replicas }) => ({
      garbageCollector: { ttlMinutes: 120, intervalMs: 300_000 },
      // A single replica only has to survive its own restart, since it starts after its predecessor
      // has exited. The lease may therefore be long: a machine that is busy with a huge graph may
      // delay renewals by seconds.
      ...(replicas === 1 ? { shards: { slot: "propeller", leaseMs: 60_000 } } : {}),
      storage: { metadataPrefix: `s3://${bucket}/metadata/propeller`, rawOutputPrefix: `s3://${bucket}/data` },
    }),
  },
  metricsPrefix: "flyte_propeller_",
});
