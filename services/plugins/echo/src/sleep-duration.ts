import { durationMs } from "@bufbuild/protobuf/wkt";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { PermanentFailure } from "@flyte-ts/task-plugin";

/**
 * Duration of a core-sleep task, ms: its input `duration`.
 * @throws PermanentFailure without an input of that name and type.
 */
export function sleepDurationMs({ inputs }: TaskRequest): number {
  const value = inputs?.literals.duration?.value;
  const primitive = value?.case === "scalar" && value.value.value.case === "primitive" ? value.value.value.value : undefined;
  if (primitive?.value.case !== "duration") {
    throw new PermanentFailure({ code: "BadTaskSpecification", message: "a core-sleep task needs an input `duration` of type duration" });
  }
  return Math.max(0, durationMs(primitive.value.value));
}
