import type { KubeObject } from "../../object/model.js";

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0: always shown; higher: only in wide output. */
  readonly priority: number;
  /** Computes the content of the cell; `now` is the time from which ages count. */
  readonly cell: (object: KubeObject, now: number) => string | number | boolean;
}

/** A kind that the API serves. */
export interface ResourceType {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly listKind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Subresources: status, log … */
  readonly subresources: readonly string[];
  /** Writes to the main resource keep `status`; `/status` writes nothing else. */
  readonly statusSubresource: boolean;
  /**
   * True for a kind of Kubernetes itself, false for a custom resource, which supports no strategic
   * merge patches.
   */
  readonly builtIn: boolean;
  /** Storage key; two views of one kind (v1 and events.k8s.io events) share it. */
  readonly storage: string;
  readonly columns: readonly PrinterColumn[];
  /** Converts between the stored form and this view. */
  readonly view?: { readonly fromStorage: (object: KubeObject) => KubeObject; readonly toStorage: (object: KubeObject) => KubeObject };
}

export const groupVersion = ({ group, version }: Pick<ResourceType, "group" | "version">) =>
  group === "" ? version : `${group}/${version}`;

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;

/** Verbs of a kind. Namespaces cannot be deleted as a collection. */
export function verbsOf({ group, plural }: Pick<ResourceType, "group" | "plural">): readonly string[] {
  return VERBS.filter((verb) => verb !== "deletecollection" || !(group === "" && plural === "namespaces"));
}
