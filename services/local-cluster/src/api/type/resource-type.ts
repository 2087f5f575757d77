import type { KubeObject } from "../../object/model.js";

export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description?: string;
  /** 0 is always shown; above only in wide output. */
  readonly priority: number;
  /** Cell value; `now` for ages. */
  readonly cell: (object: KubeObject, now: number) => string | number | boolean;
}

/** A kind of object that the API serves. */
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
  /** Subresources served beside the object: status, log … */
  readonly subresources: readonly string[];
  /** Main writes leave `status` alone; `/status` writes only it. */
  readonly statusSubresource: boolean;
  /** Strategic merge patches are understood. */
  readonly builtIn: boolean;
  /** Where objects are kept; two views of one thing (v1 and events.k8s.io events) name the same. */
  readonly storage: string;
  readonly columns: readonly PrinterColumn[];
  /** Turns the stored form into this view and back. */
  readonly view?: { readonly fromStorage: (object: KubeObject) => KubeObject; readonly toStorage: (object: KubeObject) => KubeObject };
}

export const groupVersion = ({ group, version }: Pick<ResourceType, "group" | "version">) =>
  group === "" ? version : `${group}/${version}`;

const VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"] as const;

/** What can be done with objects of a kind. Namespaces are deleted one by one. */
export function verbsOf({ group, plural }: Pick<ResourceType, "group" | "plural">): readonly string[] {
  return VERBS.filter((verb) => verb !== "deletecollection" || !(group === "" && plural === "namespaces"));
}
