import type { ObjectName } from "./client.js";
import type { KubeObject, ResourceRef } from "./resources.js";

export interface ApplyOptions extends ObjectName {
  /** The fields that are to be so, and no others. */
  readonly body: object;
  /** Who says so: fields that this manager has given before and does not give now are removed. */
  readonly fieldManager: string;
}

/** Applying configurations of kinds that are known only when they are read. Every method rejects with KubeError. */
export interface KubeApplier {
  /** Server-side apply: makes what is missing, takes over fields that others have changed, leaves theirs alone. */
  apply<T extends KubeObject>(ref: ResourceRef, options: ApplyOptions): Promise<T>;
  /** How the API names the objects of a kind; undefined when it has no such kind. */
  resourceOf(apiVersion: string, kind: string): Promise<ResourceRef | undefined>;
}
