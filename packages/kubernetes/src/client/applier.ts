import type { ObjectName } from "./client.js";
import type { KubeObject, ResourceRef } from "./resources.js";

export interface ApplyOptions extends ObjectName {
  /** The fields to set, and no others. */
  readonly body: object;
  /** Field manager: fields that it set before and does not set now are removed. */
  readonly fieldManager: string;
}

/**
 * Applies objects of kinds that are known only at run time. Every method rejects with KubeError.
 */
export interface KubeApplier {
  /**
   * Server-side apply: creates the object or sets the fields of `body`, even those that other
   * managers have changed. Does not change other fields of these managers.
   */
  apply<T extends KubeObject>(ref: ResourceRef, options: ApplyOptions): Promise<T>;
  /** Looks up how the API names a kind; undefined when the API does not have it. */
  findResource(apiVersion: string, kind: string): Promise<ResourceRef | undefined>;
}
