import { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { create } from "@bufbuild/protobuf";
import { KeyValuePairSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import type { ExecutionOptions, ResourceQuantities, TaskPluginOverride } from "../model/model.js";
import { Field } from "./field.js";

/** Settings of the execution, from the top of the resource and its `executionConfig`. */
export function parseOptions(root: Field): ExecutionOptions {
  const config = orEmptyObject(root.at("executionConfig"));
  const resources = orEmptyObject(config.at("TaskResources"));
  return {
    maxParallelism: config.at("MaxParallelism").optional((field) => field.nonNegativeInt()) ?? 0,
    interruptible: config.at("Interruptible").optional((field) => field.boolean()),
    defaultInterruptible:
      orEmptyObject(root.at("node-defaults"))
        .at("interruptible")
        .optional((field) => field.boolean()) ?? false,
    overwriteCache: config.at("OverwriteCache").optional((field) => field.boolean()) ?? false,
    environment: config
      .at("EnvironmentVariables")
      .entries()
      .map(([key, value]) => create(KeyValuePairSchema, { key, value: value.string() })),
    resources: {
      defaults: parseQuantities(resources.at("Requests")),
      defaultLimits: resources.at("DefaultLimits").optional(parseQuantities),
      limits: parseQuantities(resources.at("Limits")),
    },
    securityContext: root.at("securityContext").optional(parseSecurityContext),
    serviceAccountName: root.at("serviceAccountName").stringOrEmpty(),
    rawOutputPrefix: orEmptyObject(root.at("rawOutputDataConfig")).at("output_location_prefix").stringOrEmpty(),
    consoleUrl: root.at("consoleUrl").stringOrEmpty(),
    recoveryExecution: config.at("RecoveryExecution").optional(parseRecovery),
    taskPlugins: new Map(
      config
        .at("TaskPluginImpls")
        .entries()
        .map(([taskType, field]) => [taskType, parseTaskPlugin(field)]),
    ),
  };
}

/** Returns the field, or an empty object if it is absent. */
function orEmptyObject(field: Field): Field {
  return field.isAbsent ? new Field({}, field.path) : field;
}

function parseQuantities(quantities: Field): ResourceQuantities {
  const of = orEmptyObject(quantities);
  const quantity = (key: string): string =>
    of.at(key).optional((field) => (typeof field.value === "number" ? String(field.value) : field.string())) ?? "0";
  return {
    cpu: quantity("CPU"),
    memory: quantity("Memory"),
    ephemeralStorage: quantity("EphemeralStorage"),
    storage: quantity("Storage"),
    gpu: quantity("GPU"),
  };
}

function parseSecurityContext(field: Field): ExecutionOptions["securityContext"] {
  return Object.keys(field.object()).length === 0 ? undefined : field.message(SecurityContextSchema);
}

function parseRecovery(field: Field): ExecutionOptions["recoveryExecution"] {
  return Object.keys(field.object()).length === 0 ? undefined : field.message(WorkflowExecutionIdentifierSchema);
}

function parseTaskPlugin(field: Field): TaskPluginOverride {
  return {
    pluginIds: field
      .at("PluginIDs")
      .items()
      .map((id) => id.string()),
    useDefaultWhenMissing: field.at("MissingPluginBehavior").optional((behaviour) => behaviour.nonNegativeInt()) === 1,
  };
}
