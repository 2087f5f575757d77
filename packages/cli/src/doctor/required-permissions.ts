/** A rule of a service's role in a data plane. */
export interface PermissionRule {
  readonly group: string;
  /** With `/subresource`. */
  readonly resource: string;
  readonly verbs: readonly string[];
  /** Needed only in the services' own namespace. */
  readonly ownNamespace?: boolean;
}

const WORKFLOWS = { group: "flyte.lyft.com", resource: "flyteworkflows" };
const LEASES = {
  group: "coordination.k8s.io",
  resource: "leases",
  verbs: ["create", "delete", "list", "patch", "update", "watch"],
  own: true,
};

/** Rules that each service needs; `deploy/kubernetes` grants the same. */
export const REQUIRED_PERMISSIONS: Readonly<
  Record<"flyteadmin" | "flyteadmin-cluster-resources" | "flytepropeller" | "flyte-plugin-pod", readonly PermissionRule[]>
> = {
  flyteadmin: [
    { ...WORKFLOWS, verbs: ["create", "delete", "get"] },
    { group: "", resource: "namespaces", verbs: ["create"] },
    { group: "", resource: "pods", verbs: ["get"] },
    { group: "", resource: "pods/log", verbs: ["get"] },
  ],
  // Additional, where it creates namespaces, quotas and accounts from templates.
  "flyteadmin-cluster-resources": ["namespaces", "resourcequotas", "limitranges", "serviceaccounts"].map((resource) => ({
    group: "",
    resource,
    verbs: ["create", "get", "patch"],
  })),
  flytepropeller: [
    { ...WORKFLOWS, verbs: ["delete", "get", "list", "patch", "watch"] },
    { group: "", resource: "events", verbs: ["create", "patch"] },
    LEASES,
    { group: "", resource: "namespaces", verbs: ["get"], ownNamespace: true },
  ],
  "flyte-plugin-pod": [
    { group: "", resource: "pods", verbs: ["create", "delete", "get", "list", "watch"] },
    { group: "", resource: "pods/log", verbs: ["get"] },
    { group: "", resource: "podtemplates", verbs: ["get"] },
    { ...WORKFLOWS, resource: `${WORKFLOWS.resource}/finalizers`, verbs: ["update"] },
    LEASES,
  ],
};
