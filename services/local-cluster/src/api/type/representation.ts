import { type JsonObject, type KubeObject, isObject } from "../../object/model.js";
import type { Stored } from "../../store/stored-object.js";
import { ApiError } from "../api-error.js";
import type { ResourceType } from "./resource-type.js";

/** Requested form of objects: complete, metadata only, or rows of a table. */
export interface Representation {
  readonly form: "object" | "metadata" | "table";
  /** Content of table rows besides the cells. */
  readonly include: "Metadata" | "Object" | "None";
}

/** Selects the form by the Accept header; ignores unsupported ranges. */
export function representationOf(accept: string | undefined, includeObject: string | null): Representation {
  const include = includeObject === "Object" || includeObject === "None" ? includeObject : "Metadata";
  if (accept === undefined || accept === "") return { form: "object", include };
  for (const range of accept.split(",")) {
    const [media = "", ...parameters] = range.split(";").map((part) => part.trim());
    const as = parameters.find((p) => p.startsWith("as="))?.slice(3);
    const plain = media === "application/json" || media === "*/*" || media === "application/*";
    if (!plain) continue;
    if (as === undefined) return { form: "object", include };
    if (as === "Table") return { form: "table", include };
    if (as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return { form: "metadata", include };
  }
  throw new ApiError(
    "NotAcceptable",
    "only the following media types are accepted: application/json, application/json;as=Table;g=meta.k8s.io;v=v1, application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  );
}

/** Encodes an object as JSON. */
export function encodeOne(
  stored: Stored,
  { type, representation, now }: { type: ResourceType; representation: Representation; now: number },
): string {
  switch (representation.form) {
    case "object":
      return objectText(stored, type);
    case "metadata":
      return JSON.stringify(metadataOnly(stored.object));
    case "table":
      return JSON.stringify({
        ...tableHead(type, { resourceVersion: String(stored.revision) }),
        rows: [row(stored.object, { type, representation, now })],
      });
  }
}

/**
 * Encodes an object in this type's view; uses the stored text where the view equals the stored
 * form.
 */
function objectText(stored: Stored, type: ResourceType): string {
  if (type.view !== undefined) return JSON.stringify(type.view.fromStorage(stored.object));
  const version = type.group === "" ? type.version : `${type.group}/${type.version}`;
  if (stored.object.apiVersion !== version) return JSON.stringify({ ...stored.object, apiVersion: version });
  return stored.text();
}

/** Encodes a list of objects as JSON. */
export function encodeList(
  items: readonly Stored[],
  { type, representation, now, meta }: { type: ResourceType; representation: Representation; now: number; meta: JsonObject },
): string {
  switch (representation.form) {
    case "object": {
      const apiVersion = type.group === "" ? type.version : `${type.group}/${type.version}`;
      const head = JSON.stringify({ kind: type.listKind, apiVersion, metadata: meta });
      return `${head.slice(0, -1)},"items":[${items.map((item) => objectText(item, type)).join(",")}]}`;
    }
    case "metadata":
      return JSON.stringify({
        kind: "PartialObjectMetadataList",
        apiVersion: "meta.k8s.io/v1",
        metadata: meta,
        items: items.map(({ object }) => metadataOnly(object)),
      });
    case "table":
      return JSON.stringify({ ...tableHead(type, meta), rows: items.map(({ object }) => row(object, { type, representation, now })) });
  }
}

const metadataOnly = (object: KubeObject) => ({ kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata });

function tableHead(type: ResourceType, meta: JsonObject) {
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata: meta,
    columnDefinitions: type.columns.map((column) => ({
      name: column.name,
      type: column.type === "date" ? "string" : column.type,
      format: column.format ?? "",
      description: column.description ?? "",
      priority: column.priority,
    })),
  };
}

function row(object: KubeObject, { type, representation, now }: { type: ResourceType; representation: Representation; now: number }) {
  const cells = type.columns.map((column) => column.cell(object, now));
  switch (representation.include) {
    case "None":
      return { cells };
    case "Object":
      return { cells, object: type.view?.fromStorage(object) ?? object };
    case "Metadata":
      return { cells, object: metadataOnly(object) };
  }
}

/** Parses a JSON body; undefined when it is empty or no object or list. */
export function parseBody(text: string): unknown {
  if (text.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) || Array.isArray(value) ? value : undefined;
  } catch (error) {
    throw new ApiError(
      "BadRequest",
      `the object provided is unrecognized (must be of type Object): ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
