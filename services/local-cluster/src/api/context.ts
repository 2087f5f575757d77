import type { ObjectStore } from "../store/object-store.js";
import type { ResourceType } from "./type/resource-type.js";
import type { TypeRegistry } from "./type/type-registry.js";

/** Dependencies of all verbs. */
export interface ApiContext {
  readonly store: ObjectStore;
  readonly types: TypeRegistry;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newUid: () => string;
  /** Random lower-case letters and digits. */
  readonly randomSuffix: (length: number) => string;
  /** Maximum size of an object, bytes of JSON. */
  readonly maxObjectBytes: number;
}

/** The object or collection that a request addresses. */
export interface Target {
  readonly type: ResourceType;
  /** Undefined for cluster-wide kinds and for collections over all namespaces. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
}

export interface NamedTarget extends Target {
  readonly name: string;
}

export const objectName = (target: NamedTarget) => ({ group: target.type.group, plural: target.type.plural, name: target.name });

export const storeKey = (target: NamedTarget) => ({ resource: target.type.storage, namespace: target.namespace ?? "", name: target.name });
