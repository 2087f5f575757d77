import { toJson, type DescMessage, type JsonObject, type JsonWriteOptions, type MessageShape } from "@bufbuild/protobuf";
import { WorkflowBuildError } from "./build-error.js";

/**
 * Converts a message to protobuf's JSON form: camel case, enums by name, 64-bit numbers as text.
 * @throws WorkflowBuildError for values without a JSON form: NaN in free-form data, invalid times
 *   and durations.
 */
export function protobufJson<S extends DescMessage>(schema: S, message: MessageShape<S>): JsonObject {
  return toJsonOrBuildError(schema, message, {});
}

/**
 * Converts a message to the form that Go Flyte writes where it marshals the generated Go struct
 * without the protobuf library: field names of the .proto file, enums as numbers. (Only for
 * messages without oneofs and 64-bit numbers, whose form would differ further.)
 * @throws WorkflowBuildError as above.
 */
export function goStructJson<S extends DescMessage>(schema: S, message: MessageShape<S>): JsonObject {
  return toJsonOrBuildError(schema, message, { useProtoFieldName: true, enumAsInteger: true });
}

function toJsonOrBuildError<S extends DescMessage>(schema: S, message: MessageShape<S>, options: Partial<JsonWriteOptions>): JsonObject {
  try {
    return toJson(schema, message, options) as JsonObject;
  } catch (cause) {
    throw new WorkflowBuildError(schema.typeName, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
