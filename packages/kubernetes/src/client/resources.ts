/** A kind of object, as its path in the API names it. */
export interface ResourceRef {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly namespaced: boolean;
}

const core = (plural: string, namespaced = true): ResourceRef => ({ group: "", version: "v1", plural, namespaced });

export const PODS = core("pods");
export const POD_TEMPLATES = core("podtemplates");
/** Created to give a pod its node. */
export const BINDINGS = core("bindings");
export const NODES = core("nodes", false);
export const NAMESPACES = core("namespaces", false);
export const SECRETS = core("secrets");
export const CONFIG_MAPS = core("configmaps");
export const SERVICE_ACCOUNTS = core("serviceaccounts");
export const RESOURCE_QUOTAS = core("resourcequotas");
export const EVENTS = core("events");
export const LEASES: ResourceRef = { group: "coordination.k8s.io", version: "v1", plural: "leases", namespaced: true };
export const CUSTOM_RESOURCE_DEFINITIONS: ResourceRef = {
  group: "apiextensions.k8s.io",
  version: "v1",
  plural: "customresourcedefinitions",
  namespaced: false,
};

/** Metadata of every object, as far as controllers use it. */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
  /** The server's record of field ownership. */
  managedFields?: { operation?: string }[];
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
}

export interface KubeList<T> {
  metadata: { resourceVersion: string; continue?: string };
  items: T[];
}

/** `namespace/name`; the name alone for cluster-scoped objects. */
export function objectKey({ metadata }: KubeObject): string {
  return metadata.namespace ? `${metadata.namespace}/${metadata.name}` : metadata.name;
}

/** Path of a collection, or of one object in it. */
export function resourcePath(ref: ResourceRef, namespace?: string, name?: string): string {
  const base = ref.group === "" ? `/api/${ref.version}` : `/apis/${ref.group}/${ref.version}`;
  const within = ref.namespaced && namespace !== undefined ? `/namespaces/${encodeURIComponent(namespace)}` : "";
  return `${base}${within}/${ref.plural}${name === undefined ? "" : `/${encodeURIComponent(name)}`}`;
}
