import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { Secret_MountType as MountType, type SecurityContextSchema } from "@flyte-ts/idl/flyteidl/core/security_pb";
import {
  type Container,
  ContainerSchema,
  DataLoadingConfig_LiteralMapFormat as Format,
  RuntimeMetadata_RuntimeType as RuntimeType,
  type TaskMetadata,
  TaskMetadataSchema,
  type TaskTemplate,
  TaskTemplateSchema,
} from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { typedInterfaceOf } from "../codec/literal-type.js";
import { callsEntities, type TaskDefinition } from "../entity/definition.js";
import { GraphError } from "../entity/errors.js";
import { placeOf } from "../entity/origin.js";
import type { CacheSettings, TaskSettings } from "../entity/settings.js";
import type { MapTask } from "../graph/compilation.js";
import { t } from "../type/t.js";
import { durationOf } from "../type/duration.js";
import { type Fields, withoutDefault } from "../type/type.js";
import { podOf } from "./pod.js";
import { identify, type Registration, type TaskLocation } from "./registration.js";
import { extendedResourcesOf, resourcesOf } from "./resources.js";

export interface TaskDescription {
  readonly name: string;
  readonly definition: TaskDefinition;
  readonly location: TaskLocation;
  /** Set for a task that maps this one over lists. */
  readonly map?: MapTask;
}

/** Returns the template of a task, or of the task that maps it. */
export function taskTemplate(description: TaskDescription, registration: Registration): TaskTemplate {
  const { name, definition, map } = description;
  const { settings, execution } = definition;
  const container = execution.form === "connector" ? undefined : containerOf(description, registration);
  const extendedResources = settings.resources && extendedResourcesOf(settings.resources);
  return create(TaskTemplateSchema, {
    id: identify(registration, ResourceType.TASK, name),
    type: typeOf(definition),
    taskTypeVersion: map === undefined ? 0 : 1,
    // The code of a map task is that of the task that it maps.
    metadata: metadataOf(definition, map?.taskName ?? name, registration),
    interface: typedInterfaceOf(map === undefined ? definition : mapInterface(map)),
    config: configOf(description, registration),
    ...(execution.form === "connector" && { custom: execution.custom }),
    ...(container !== undefined && targetOf(container, settings)),
    ...(settings.secrets !== undefined && { securityContext: securityContext(settings.secrets) }),
    ...(extendedResources !== undefined && { extendedResources }),
  });
}

function typeOf({ execution }: TaskDefinition): string {
  switch (execution.form) {
    case "connector":
      return execution.type;
    case "container":
      return "raw-container";
    default:
      return "container";
  }
}

function isPodTask({ podTemplate }: TaskSettings): boolean {
  return typeof podTemplate === "object";
}

function targetOf(container: Container, { podTemplate }: TaskSettings): { target: MessageInitShape<typeof TaskTemplateSchema>["target"] } {
  if (typeof podTemplate !== "object") return { target: { case: "container", value: container } };
  return { target: { case: "k8sPod", value: podOf(podTemplate, container) } };
}

function configOf({ definition, location }: TaskDescription, { code, sourcePath }: Registration): Record<string, string> {
  const { execution, settings, origin } = definition;
  const place = placeOf(origin);
  return {
    ...(isPodTask(settings) && { primary_container_name: "primary" }),
    ...(execution.form !== "container" &&
      execution.form !== "connector" && {
        "flyte-ts/module": location.module,
        ...("bundle" in code && { "flyte-ts/bundle-digest": code.bundle.digest }),
      }),
    ...(place !== undefined && { "flyte-ts/source": `${sourcePath?.(place.file) ?? place.file}:${place.line}` }),
  };
}

function metadataOf(definition: TaskDefinition, name: string, registration: Registration): TaskMetadata {
  const { settings, execution } = definition;
  const { retries = 0, timeout, interruptible, podTemplate, cache = false, deck = false } = settings;
  const caching: CacheSettings | undefined = cache === true ? {} : cache === false ? undefined : cache;
  return create(TaskMetadataSchema, {
    runtime: { type: RuntimeType.FLYTE_SDK, version: registration.sdkVersion, flavor: "typescript" },
    retries: { retries },
    generatesDeck: deck || execution.form === "eager",
    isEager: execution.form === "eager",
    ...(timeout !== undefined && { timeout: durationFromMs(durationOf(timeout).milliseconds) }),
    ...(interruptible !== undefined && { interruptibleValue: { case: "interruptible" as const, value: interruptible } }),
    ...(typeof podTemplate === "string" && { podTemplateName: podTemplate }),
    ...(caching !== undefined && {
      discoverable: true,
      discoveryVersion: caching.version ?? cacheVersion(name, registration),
      cacheSerializable: caching.serialize ?? false,
      cacheIgnoreInputVars: [...(caching.ignoredInputs ?? [])],
    }),
  });
}

function cacheVersion(name: string, { cacheVersion: versionOf }: Registration): string {
  const version = versionOf?.(name);
  if (version !== undefined) return version;
  throw new GraphError(`the task ${name} is cached by its code, so its module must export it; or give it cache: { version: "1" }`);
}

function containerOf(description: TaskDescription, registration: Registration): Container {
  const { settings, execution } = description.definition;
  const callerEnv = callsEntities(description.definition) ? registration.callerEnv : {};
  const env = Object.entries({ ...registration.env, ...callerEnv, ...settings.env }).map(([key, value]) => ({ key, value }));
  const resources = settings.resources === undefined ? {} : resourcesOf(settings.resources);
  if (execution.form === "container") {
    const { image, command, inputFolder, outputFolder } = execution.container;
    const dataConfig = { enabled: true, inputPath: inputFolder, outputPath: outputFolder, format: Format.JSON };
    return create(ContainerSchema, { image, command: [...command], env, resources, dataConfig });
  }
  return create(ContainerSchema, { image: settings.image ?? registration.image, args: argsOf(description, registration), env, resources });
}

/** Flags in the form "--name value", as flytekit gives them. */
const FLAGS = [
  "--inputs {{.input}}",
  "--output-prefix {{.outputPrefix}}",
  "--raw-output-data-prefix {{.rawOutputDataPrefix}}",
  "--checkpoint-path {{.checkpointOutputPrefix}}",
  "--prev-checkpoint {{.prevCheckpointPrefix}}",
].flatMap((flag) => flag.split(" "));

/** Returns the command line of a task: flytekit's flags, then the place of the code. */
function argsOf({ location, map }: TaskDescription, { code }: Registration): string[] {
  return [
    "flyte-ts-execute",
    ...FLAGS,
    ...("bundle" in code ? ["--bundle", code.bundle.uri, "--bundle-digest", code.bundle.digest] : ["--entry", code.entry]),
    ...(map === undefined ? [] : ["--map"]),
    "--",
    "task-module",
    location.module,
    "task-name",
    location.exportName,
    ...(map === undefined || map.bound.length === 0 ? [] : ["vars", map.bound.join(",")]),
  ];
}

function mapInterface({ task, bound, tolerant }: MapTask): { readonly inputs: Fields; readonly outputs: Fields } {
  const inputs = Object.entries(task.inputs).map(([name, type]) => {
    return [name, bound.includes(name) ? type : t.list(withoutDefault(type))] as const;
  });
  const outputs = Object.entries(task.outputs).map(([name, type]) => {
    const element = withoutDefault(type);
    return [name, t.list(tolerant && element.kind !== "optional" ? t.optional(element) : element)] as const;
  });
  return { inputs: Object.fromEntries(inputs), outputs: Object.fromEntries(outputs) };
}

function securityContext(secrets: NonNullable<TaskSettings["secrets"]>): MessageInitShape<typeof SecurityContextSchema> {
  return {
    secrets: secrets.map(({ group, key = "", as }) => ({
      group,
      key,
      mountRequirement: as === "file" ? MountType.FILE : as === "env" ? MountType.ENV_VAR : MountType.ANY,
    })),
  };
}
