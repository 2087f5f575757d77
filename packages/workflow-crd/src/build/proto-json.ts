import { toJson, type DescMessage, type JsonObject, type MessageShape } from "@bufbuild/protobuf";

/** A message in protobuf's own JSON form: camel case, enums by name, 64-bit numbers as text. */
export function protoJson<S extends DescMessage>(schema: S, message: MessageShape<S>): JsonObject {
  return toJson(schema, message) as JsonObject;
}

/**
 * A message in the form that the original writes where it marshals the generated Go
 * struct without the protobuf library: field names of the .proto file, enums as
 * numbers. (Only for messages without oneofs and 64-bit numbers, whose form would
 * differ further.)
 */
export function plainJson<S extends DescMessage>(schema: S, message: MessageShape<S>): JsonObject {
  return toJson(schema, message, { useProtoFieldName: true, enumAsInteger: true }) as JsonObject;
}
