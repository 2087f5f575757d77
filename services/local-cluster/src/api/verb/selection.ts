import { type FieldSelector, parseFieldSelector } from "../../object/field-selector.js";
import { type LabelMatch, parseLabelSelector, SelectorError } from "../../object/label-selector.js";
import type { KubeObject } from "../../object/model.js";
import { badRequest } from "../api-error.js";
import type { Target } from "../context.js";

export interface Selection {
  readonly matches: (object: KubeObject) => boolean;
  /** True when no selector applies. */
  readonly all: boolean;
  /** The only name that can match. */
  readonly name: string | undefined;
}

/** Parses the label and field selectors of a request. @throws ApiError BadRequest */
export function selectionOf(target: Target, query: URLSearchParams): Selection {
  const labels = query.get("labelSelector") ?? "";
  const fields = query.get("fieldSelector") ?? "";
  let label: LabelMatch;
  let field: FieldSelector;
  try {
    label = parseLabelSelector(labels);
    field = parseFieldSelector(fields, target.type.kind);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequest(error.message);
    throw error;
  }
  const { name, namespace } = target;
  return {
    all: labels === "" && fields === "" && name === undefined && namespace === undefined,
    name: name ?? field.name,
    matches: (object) =>
      (namespace === undefined || object.metadata.namespace === namespace) &&
      (name === undefined || object.metadata.name === name) &&
      (labels === "" || label(object.metadata.labels)) &&
      (fields === "" || field.matches(object)),
  };
}
