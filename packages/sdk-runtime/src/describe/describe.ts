import { toBinary } from "@bufbuild/protobuf";
import { LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { TaskSpecSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { WorkflowSpecSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import {
  type Collection,
  type Definition,
  definitionOf,
  describeEntities,
  type EntityAddress,
  findName,
  listReferences,
} from "@flyte-ts/sdk/runtime";
import { type BundleManifest, cacheVersionOf } from "../manifest.js";
import type { CodeSource } from "../run-request.js";
import { callerEnvOf, IMAGE_VARIABLE, referenceKey } from "../task/registration.js";

/** Entity of a bundle, as the command shows it. */
export interface ListedEntity {
  readonly name: string;
  readonly kind: "task" | "workflow" | "launchplan" | "reference";
  readonly module: string;
  readonly export: string;
  /** True for a task whose cache version follows from its code. */
  readonly needsCodeHash: boolean;
  /** Name of the workflow of a launch plan. */
  readonly workflow?: string;
}

/** Settings of a registration. */
export interface DescribeRequest {
  readonly project: string;
  readonly domain: string;
  readonly version: string;
  readonly image: string;
  readonly code: CodeSource;
  readonly manifest: BundleManifest;
  /** Address of the folder in which source maps place the sources; removed from places. */
  readonly sourceRoot: string;
  /** Versions of references without one, by `referenceKey`. */
  readonly versions: Readonly<Record<string, string>>;
}

/** Messages of a registration, each as base64 of its protobuf encoding. */
export interface EncodedDescription {
  readonly tasks: readonly string[];
  readonly workflows: readonly string[];
  readonly launchPlans: readonly { readonly name: string; readonly spec: string; readonly active: boolean }[];
}

export function listEntities(collection: Collection): ListedEntity[] {
  return collection.entities.map(({ definition, name, module, exportName }) => ({
    name,
    kind: definition.kind,
    module,
    export: exportName,
    needsCodeHash: definition.kind === "task" && usesCodeHash(definition.settings.cache),
    ...workflowOf(definition),
  }));
}

function workflowOf(definition: Definition): Pick<ListedEntity, "workflow"> {
  const workflow = definition.kind === "launchplan" ? findName(definitionOf(definition.workflow)) : undefined;
  return workflow === undefined ? {} : { workflow };
}

const usesCodeHash = (cache: boolean | { readonly version?: string } | undefined): boolean =>
  cache === true || (typeof cache === "object" && cache.version === undefined);

/** Reference that names no version. */
export interface UnresolvedReference extends EntityAddress {
  /** True when no graph uses it; functions of dynamic and eager tasks may. */
  readonly optional: boolean;
}

/** Returns the references of a collection that name no version. */
export function unresolvedReferences(collection: Collection): UnresolvedReference[] {
  const { used, usable } = listReferences(collection);
  const needed = used.filter(({ version }) => version === undefined);
  const all = [...usable.map((address) => ({ ...address, optional: true })), ...needed.map((address) => ({ ...address, optional: false }))];
  return [...new Map(all.map((reference) => [referenceKey(reference), reference])).values()];
}

/** Describes all entities of a bundle as the messages that create them. */
export function describeBundle(collection: Collection, request: DescribeRequest): EncodedDescription {
  const { project, domain, version, image, code, manifest, sourceRoot, versions } = request;
  const { tasks, workflows, launchPlans } = describeEntities(collection, {
    project,
    domain,
    version,
    image,
    code: code.kind === "bundle" ? { bundle: { uri: code.uri, digest: code.digest } } : { entry: code.path },
    sdkVersion: manifest.sdkVersion,
    env: { [IMAGE_VARIABLE]: image },
    callerEnv: callerEnvOf(versions),
    cacheVersion: (name) => cacheVersionOf(manifest, { name, image }),
    resolve: (address) => versions[referenceKey(address)],
    sourcePath: (file) => (file.startsWith(sourceRoot) ? file.slice(sourceRoot.length) : file),
  });
  return {
    tasks: tasks.map((spec) => base64(toBinary(TaskSpecSchema, spec))),
    workflows: workflows.map((spec) => base64(toBinary(WorkflowSpecSchema, spec))),
    launchPlans: launchPlans.map(({ id, spec, active }) => ({
      name: id.name,
      spec: base64(toBinary(LaunchPlanSpecSchema, spec)),
      active,
    })),
  };
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
