import type { TypedInterfaceJson, VariableMapJson } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { LiteralTypeJson } from "@flyte-ts/idl/flyteidl/core/types_pb";

/** Formats an interface: `(data: file, epochs: integer) → model: file`. */
export function interfaceText(typed: TypedInterfaceJson | undefined): string {
  const outputs = variablesText(typed?.outputs);
  return `(${variablesText(typed?.inputs)})${outputs === "" ? "" : ` → ${outputs}`}`;
}

function variablesText(map: VariableMapJson | undefined): string {
  return Object.entries(map?.variables ?? {})
    .map(([name, { type }]) => `${name}: ${typeText(type)}`)
    .join(", ");
}

/** Formats a type in the words of Flyte: `list[integer]`. */
export function typeText(type: LiteralTypeJson | undefined): string {
  if (type?.collectionType != null) return `list[${typeText(type.collectionType)}]`;
  if (type?.mapValueType != null) return `map[${typeText(type.mapValueType)}]`;
  if (type?.unionType != null) return (type.unionType.variants ?? []).map(typeText).join(" | ");
  if (type?.blob != null) return type.blob.dimensionality === "MULTIPART" ? "directory" : "file";
  if (type?.structuredDatasetType != null) return "structured dataset";
  if (type?.schema != null) return "schema";
  if (type?.enumType != null) return "enum";
  return (type?.simple ?? "any").toLowerCase();
}
