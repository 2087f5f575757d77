import type { JsonObject, KubeObject } from "../../object/model.js";
import type { Lookup } from "../container/environment.js";

export interface PodChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The pod after the change, or its last state. */
  readonly pod: KubeObject;
}

/**
 * Access of scheduler and kubelet to pods: the store of this process, or any Kubernetes API. Reads
 * are synchronous. Writes are visible to later reads at once and carried out in the background, in
 * order, until they succeed or the object is gone.
 */
export interface PodSource {
  readonly now: () => number;
  get(namespace: string, name: string): KubeObject | undefined;
  list(): readonly KubeObject[];
  /** Subscribes to changes. @returns a function that unsubscribes */
  subscribe(listener: (change: PodChange) => void): () => void;
  writeStatus(pod: KubeObject, status: JsonObject): void;
  /** Binds the pod to a node; `status` is its status afterwards. */
  bind(pod: KubeObject, placed: { readonly nodeName: string; readonly status: JsonObject }): void;
  /** Completes the deletion of a pod of which nothing runs any more. */
  release(pod: KubeObject): void;
  /** Returns data of secrets and config maps. */
  lookup(namespace: string): Lookup;
  /** Writes an event, new or with a higher count. Failed writes are lost. */
  writeEvent(event: KubeObject): void;
  newUid(): string;
}
