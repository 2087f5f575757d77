import { isGiven } from "../format/given.js";
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
  if (isGiven(type?.collectionType)) return `list[${typeText(type.collectionType)}]`;
  if (isGiven(type?.mapValueType)) return `map[${typeText(type.mapValueType)}]`;
  if (isGiven(type?.unionType)) return (type.unionType.variants ?? []).map(typeText).join(" | ");
  if (isGiven(type?.blob)) return type.blob.dimensionality === "MULTIPART" ? "directory" : "file";
  if (isGiven(type?.structuredDatasetType)) return "structured dataset";
  if (isGiven(type?.schema)) return "schema";
  if (isGiven(type?.enumType)) return "enum";
  return (type?.simple ?? "any").toLowerCase();
}
