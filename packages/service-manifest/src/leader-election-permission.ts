import type { PermissionRule } from "./manifest-schema.js";

/** Permission of a service whose replicas elect a leader. */
export const leaderElectionPermission = {
  scope: "namespace",
  apiGroup: "coordination.k8s.io",
  resources: ["leases"],
  verbs: ["create", "delete", "list", "patch", "update", "watch"],
  reason: "Elects the leader among its replicas.",
  rareVerbs: { update: "a standby takes over from a dead leader" },
} satisfies PermissionRule;
