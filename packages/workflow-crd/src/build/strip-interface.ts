import { clone } from "@bufbuild/protobuf";
import { TypedInterfaceSchema, type TypedInterface, type VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";

/** Annotation that is part of cache keys and is therefore kept. */
const CACHE_KEY_ANNOTATION = "cache-key-metadata";

/**
 * Copies an interface without the fields that only people read: descriptions, and metadata and
 * annotations of types.
 */
export function stripInterface(iface: TypedInterface): TypedInterface {
  const copy = clone(TypedInterfaceSchema, iface);
  stripVariables(copy.inputs);
  stripVariables(copy.outputs);
  return copy;
}

function stripVariables(map: VariableMap | undefined): void {
  for (const variable of Object.values(map?.variables ?? {})) {
    variable.description = "";
    stripType(variable.type);
  }
}

function stripType(type: LiteralType | undefined): void {
  if (type === undefined) return;
  delete type.metadata;
  if (type.annotation !== undefined && !Object.hasOwn(type.annotation.annotations ?? {}, CACHE_KEY_ANNOTATION)) delete type.annotation;
  Object.values(type.structure?.dataclassType ?? {}).forEach(stripType);
  switch (type.type.case) {
    case "collectionType":
    case "mapValueType":
      stripType(type.type.value);
      break;
    case "unionType":
      type.type.value.variants.forEach(stripType);
      break;
    case "structuredDatasetType":
      for (const column of type.type.value.columns) stripType(column.literalType);
      break;
    default:
      break;
  }
}
