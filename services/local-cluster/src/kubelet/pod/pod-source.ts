import type { JsonObject, KubeObject } from "../../object/model.js";
import type { Lookup } from "../container/environment.js";

export interface PodChange {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  /** The pod after the change; its last state when it is gone. */
  readonly pod: KubeObject;
}

/**
 * Where the scheduler and the kubelet see pods and tell what becomes of them: the
 * store in the same process, or any Kubernetes API. Reads answer at once; writes
 * take effect for later reads at once and are carried out behind, in order and
 * until they succeed or their object is gone.
 */
export interface PodSource {
  readonly now: () => number;
  get(namespace: string, name: string): KubeObject | undefined;
  list(): readonly KubeObject[];
  /** Every change from now on. The answer ends it. */
  subscribe(listener: (change: PodChange) => void): () => void;
  writeStatus(pod: KubeObject, status: JsonObject): void;
  /** Gives the pod its node; `status` is what it has then. */
  bind(pod: KubeObject, placed: { readonly nodeName: string; readonly status: JsonObject }): void;
  /** The pod is being deleted and nothing of it runs any more. */
  release(pod: KubeObject): void;
  /** Data of secrets and config maps. */
  lookup(namespace: string): Lookup;
  /** Writes an event, new or with a higher count. One that cannot be written is lost. */
  writeEvent(event: KubeObject): void;
  newUid(): string;
}
