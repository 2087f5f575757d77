import { type DescMessage, fromJson, type MessageShape } from "@bufbuild/protobuf";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { PermanentFailure } from "@flyte-ts/task-plugin";

/**
 * Decodes the task's `custom` as a message. Accepts names in camel and snake case and ignores
 * unknown fields, as Go Flyte does.
 *
 * @throws PermanentFailure when a field has a value of another type.
 */
export function decodeCustom<Desc extends DescMessage>(schema: Desc, { template }: TaskRequest): MessageShape<Desc> {
  try {
    return fromJson(schema, template?.custom ?? {}, { ignoreUnknownFields: true });
  } catch (error) {
    throw badSpecification(`template.custom: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Error of a task that no resource can be built from. */
export function badSpecification(message: string): PermanentFailure {
  return new PermanentFailure({ code: "BadTaskSpecification", message: `invalid TaskSpecification: ${message}` });
}
