import type { FieldType } from "./field-type.js";

/** Names a type in one or two words, as on a segment of a union: `float`, `list`, `Schedule`. */
export function shortName(type: FieldType): string {
  switch (type.kind) {
    case "object":
    case "raw":
      return type.name;
    case "blob":
      return type.format === "PythonPickle" ? "pickle" : type.directory ? "directory" : "file";
    case "dataset":
      return "StructuredDataset";
    default:
      return type.kind;
  }
}

/** Names a type as a form shows it: `list of string`, `integer | none`, `FlyteFile[csv]`. */
export function typeName(type: FieldType): string {
  switch (type.kind) {
    case "list":
      return `list of ${inner(type.item)}`;
    case "map":
      return `map of string to ${inner(type.value)}`;
    case "union":
      return type.variants.map(({ type: variant }) => typeName(variant)).join(" | ");
    case "object":
      return `dataclass ${type.name}`;
    case "blob":
      if (type.format === "PythonPickle") return "pickle";
      return `${type.directory ? "FlyteDirectory" : "FlyteFile"}${type.format === "" ? "" : `[${type.format}]`}`;
    case "dataset":
      return `StructuredDataset${type.format === "" ? "" : `[${type.format}]`}`;
    case "string":
      return type.format === "" ? "string" : `string ${type.format}`;
    default:
      return shortName(type);
  }
}

function inner(type: FieldType): string {
  return type.kind === "union" ? `(${typeName(type)})` : typeName(type);
}
