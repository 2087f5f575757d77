import { type DescMessage, fromJson, type JsonObject, type MessageShape } from "@bufbuild/protobuf";
import { InvalidPodSpecError } from "../build/invalid-pod-spec.js";

/**
 * Reads the `custom` field of a task template as a message; unknown fields are ignored.
 * @throws InvalidPodSpecError
 */
export function customMessage<Desc extends DescMessage>(schema: Desc, custom: JsonObject | undefined): MessageShape<Desc> {
  try {
    return fromJson(schema, custom ?? {}, { ignoreUnknownFields: true });
  } catch (cause) {
    throw new InvalidPodSpecError(`custom: is no ${schema.name}: ${(cause as Error).message}`);
  }
}
