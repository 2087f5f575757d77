import type { JsonObject } from "@bufbuild/protobuf";
import { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ResourceQuantities } from "../model/model.js";
import { quantityOrZero } from "./quantity-or-zero.js";
import type { BuildInput } from "./input.js";
import { goStructJson } from "./protobuf-json.js";

/**
 * Builds `executionConfig`, the only part whose keys are Go's field names; all are always present.
 */
export function buildExecutionConfig(input: BuildInput): JsonObject {
  const plugins = input.taskPluginOverrides.map((override): [string, JsonObject] => [
    override.taskType,
    { PluginIDs: override.pluginId, MissingPluginBehavior: override.missingPluginBehavior },
  ]);
  return {
    TaskPluginImpls: Object.fromEntries(plugins),
    MaxParallelism: input.maxParallelism,
    RecoveryExecution:
      input.recoveryExecution === undefined ? {} : goStructJson(WorkflowExecutionIdentifierSchema, input.recoveryExecution),
    TaskResources: {
      Requests: buildQuantities(input.resources.defaults),
      Limits: buildQuantities(input.resources.limits),
      // Flyte's own propeller ignores this field.
      ...(input.resources.defaultLimits && { DefaultLimits: buildQuantities(input.resources.defaultLimits) }),
    },
    Interruptible: input.interruptible ?? null,
    OverwriteCache: input.overwriteCache,
    EnvironmentVariables:
      input.environment.length === 0 ? null : Object.fromEntries(input.environment.map(({ key, value }) => [key, value])),
  };
}

/** Invalid quantities count as absent: attributes of projects are stored unchecked. */
function buildQuantities(quantities: ResourceQuantities): JsonObject {
  return {
    CPU: quantityOrZero(quantities.cpu),
    Memory: quantityOrZero(quantities.memory),
    EphemeralStorage: quantityOrZero(quantities.ephemeralStorage),
    Storage: quantityOrZero(quantities.storage),
    GPU: quantityOrZero(quantities.gpu),
  };
}
