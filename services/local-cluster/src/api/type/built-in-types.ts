import * as columns from "./columns.js";
import { eventsV1View } from "./event-view.js";
import { POD_COLUMNS } from "./pod-columns.js";
import type { ResourceType } from "./resource-type.js";

type TypeDefinition = Pick<ResourceType, "kind" | "plural"> & Partial<ResourceType>;

function builtIn(definition: TypeDefinition): ResourceType {
  const group = definition.group ?? "";
  return {
    group,
    version: "v1",
    listKind: `${definition.kind}List`,
    singular: definition.kind.toLowerCase(),
    shortNames: [],
    categories: [],
    namespaced: true,
    subresources: [],
    statusSubresource: definition.subresources?.includes("status") ?? false,
    builtIn: true,
    storage: `${group}/${definition.plural}`,
    columns: columns.PLAIN_COLUMNS,
    ...definition,
  };
}

/** Built-in kinds of the API; custom resource definitions add others. */
export const BUILT_IN_TYPES: readonly ResourceType[] = [
  builtIn({
    kind: "Namespace",
    plural: "namespaces",
    shortNames: ["ns"],
    namespaced: false,
    subresources: ["status", "finalize"],
    columns: columns.NAMESPACE_COLUMNS,
  }),
  builtIn({
    kind: "Node",
    plural: "nodes",
    shortNames: ["no"],
    namespaced: false,
    subresources: ["status"],
    columns: columns.NODE_COLUMNS,
  }),
  builtIn({ kind: "Pod", plural: "pods", shortNames: ["po"], categories: ["all"], subresources: ["status", "log"], columns: POD_COLUMNS }),
  builtIn({ kind: "Event", plural: "events", shortNames: ["ev"], columns: columns.EVENT_COLUMNS }),
  builtIn({ kind: "Secret", plural: "secrets", columns: columns.SECRET_COLUMNS }),
  builtIn({ kind: "ConfigMap", plural: "configmaps", shortNames: ["cm"], columns: columns.CONFIG_MAP_COLUMNS }),
  builtIn({ kind: "ServiceAccount", plural: "serviceaccounts", shortNames: ["sa"], columns: columns.SERVICE_ACCOUNT_COLUMNS }),
  builtIn({
    kind: "ResourceQuota",
    plural: "resourcequotas",
    shortNames: ["quota"],
    subresources: ["status"],
    columns: columns.QUOTA_COLUMNS,
  }),
  builtIn({ kind: "LimitRange", plural: "limitranges", shortNames: ["limits"], columns: columns.LIMIT_RANGE_COLUMNS }),
  builtIn({ kind: "PodTemplate", plural: "podtemplates", columns: columns.POD_TEMPLATE_COLUMNS }),
  builtIn({ kind: "Lease", group: "coordination.k8s.io", plural: "leases", columns: columns.LEASE_COLUMNS }),
  builtIn({
    kind: "Event",
    group: "events.k8s.io",
    plural: "events",
    shortNames: ["ev"],
    storage: "/events",
    view: eventsV1View,
    columns: columns.EVENT_COLUMNS,
  }),
  builtIn({
    kind: "CustomResourceDefinition",
    group: "apiextensions.k8s.io",
    plural: "customresourcedefinitions",
    shortNames: ["crd", "crds"],
    categories: ["api-extensions"],
    namespaced: false,
    subresources: ["status"],
    columns: columns.CRD_COLUMNS,
  }),
];

/** Storage keys of the kinds that the service itself uses. */
export const STORAGE = {
  pods: "/pods",
  namespaces: "/namespaces",
  nodes: "/nodes",
  events: "/events",
  secrets: "/secrets",
  configMaps: "/configmaps",
  serviceAccounts: "/serviceaccounts",
  quotas: "/resourcequotas",
  limitRanges: "/limitranges",
  definitions: "apiextensions.k8s.io/customresourcedefinitions",
} as const;
