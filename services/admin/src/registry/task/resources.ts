import { parseQuantity, type Quantity } from "@flyte-ts/domain/quantity";
import { MatchableResource, type TaskResourceAttributes, type TaskResourceSpec } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type Container, type Resources_ResourceEntry, Resources_ResourceName } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { type AttributeScope, resolveAttributes } from "../store/attribute-lookup.js";
import type { RegistryConfig } from "../config.js";
import type { RegistryDeps } from "../deps.js";
import { identifierText, invalidArgument } from "../../platform/index.js";
import { isWhole, wholeUnits } from "./whole-units.js";

/** Kubernetes quantities as texts; empty without one. */
export interface ResourceTexts {
  readonly cpu: string;
  readonly memory: string;
  readonly ephemeralStorage: string;
  readonly gpu: string;
}

export interface PlatformResources {
  readonly defaults: ResourceTexts;
  /**
   * Minimum limits of containers without limits; default: the limit equals the request, as in
   * Flyte.
   */
  readonly defaultLimits?: Omit<ResourceTexts, "gpu"> | undefined;
  readonly limits: ResourceTexts;
}

/**
 * Returns the default and maximum resources of tasks in a scope: those of the attributes, else the
 * configured ones.
 */
export async function platformResources(deps: Pick<RegistryDeps, "db" | "config">, scope: AttributeScope): Promise<PlatformResources> {
  const attributes = await resolveAttributes(deps.db, { kind: MatchableResource.TASK_RESOURCE, target: "taskResourceAttributes" }, scope);
  return resourcesOf(attributes, deps.config);
}

/** {@link platformResources} from resolved attributes. */
export function resourcesOf(
  attributes: TaskResourceAttributes | undefined,
  config: Pick<RegistryConfig, "taskResources">,
): PlatformResources {
  if (attributes === undefined) return config.taskResources;
  const { defaultLimits } = config.taskResources;
  return { defaults: texts(attributes.defaults), defaultLimits, limits: texts(attributes.limits) };
}

function texts(spec: TaskResourceSpec | undefined): ResourceTexts {
  return {
    cpu: spec?.cpu ?? "",
    memory: spec?.memory ?? "",
    ephemeralStorage: spec?.ephemeralStorage ?? "",
    gpu: spec?.gpu ?? "",
  };
}

export type Quantities = ReadonlyMap<Resources_ResourceName, Quantity>;

const checked: readonly Resources_ResourceName[] = [
  Resources_ResourceName.CPU,
  Resources_ResourceName.MEMORY,
  Resources_ResourceName.EPHEMERAL_STORAGE,
  Resources_ResourceName.GPU,
];

/** Resources of a container. */
export interface ContainerResources {
  readonly requests: Quantities;
  readonly limits: Quantities;
}

/** @throws RpcError INVALID_ARGUMENT naming the resource with an invalid quantity. */
export function containerResources({ resources }: Container, id: Identifier): ContainerResources {
  return { requests: quantities(resources?.requests ?? [], id, "request"), limits: quantities(resources?.limits ?? [], id, "limit") };
}

/**
 * Validates the resources of a task's container: requests against its own limits, and both against
 * the platform's limits. A limit without a request is not checked.
 *
 * @throws RpcError INVALID_ARGUMENT naming the resource.
 */
export function checkResources(requested: ContainerResources, id: Identifier, limits: ResourceTexts): void {
  for (const [name, request] of requested.requests) {
    const label = Resources_ResourceName[name];
    const limit = requested.limits.get(name);
    if (limit !== undefined) checkAgainstOwn({ name, request, limit, id });
    const platform = platformLimit(limits, name);
    if (platform === undefined) continue;
    const ceiling = wholeUnits(platform.quantity);
    if (limit !== undefined && wholeUnits(limit) > ceiling) throw tooMuch(`${label} limit [${wholeUnits(limit)}]`, platform.text);
    if (wholeUnits(request) > ceiling) throw tooMuch(`${label} default [${wholeUnits(request)}]`, platform.text);
  }
}

interface Pair {
  readonly name: Resources_ResourceName;
  readonly request: Quantity;
  readonly limit: Quantity;
  readonly id: Identifier;
}

function checkAgainstOwn({ name, request, limit, id }: Pair): void {
  const [requested, maximum] = [wholeUnits(request), wholeUnits(limit)];
  if (name === Resources_ResourceName.GPU) {
    if (requested !== maximum) {
      throw invalidArgument(`For extended resource 'gpu' the default value must equal the limit value for task [${identifierText(id)}]`);
    }
    return;
  }
  if (requested > maximum) {
    const label = Resources_ResourceName[name];
    throw invalidArgument(
      `Requested ${label} default [${requested}] is greater than the limit [${maximum}]. Please fix your configuration`,
    );
  }
}

function tooMuch(what: string, limit: string): Error {
  return invalidArgument(
    `Requested ${what} is greater than current limit set in the platform configuration [${limit}]. ` +
      "Please contact Flyte Admins to change these limits or consult the configuration",
  );
}

function quantities(entries: readonly Resources_ResourceEntry[], id: Identifier, kind: string): Quantities {
  const found = new Map<Resources_ResourceName, Quantity>();
  for (const { name, value } of entries) {
    if (!checked.includes(name)) continue;
    const label = Resources_ResourceName[name];
    if (found.has(name)) throw invalidArgument(`can't specify ${label} ${kind} for task [${identifierText(id)}] multiple times`);
    const quantity = parseQuantity(value);
    if (quantity === undefined) {
      throw invalidArgument(
        `Parsing of ${label} ${kind} failed for value ${value}: it must be a Kubernetes quantity such as 500m or 2Gi, see ` +
          "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
      );
    }
    if (name === Resources_ResourceName.GPU && !isWhole(quantity)) {
      throw invalidArgument(`gpu for [${identifierText(id)}] must be a whole number, got: ${value} instead`);
    }
    found.set(name, quantity);
  }
  return found;
}

/** An invalid or zero quantity is no limit: attributes may contain any text. */
function platformLimit(limits: ResourceTexts, name: Resources_ResourceName): { text: string; quantity: Quantity } | undefined {
  const text = limitText(limits, name);
  const quantity = parseQuantity(text);
  return quantity === undefined || quantity.nanos === 0n ? undefined : { text, quantity };
}

function limitText(limits: ResourceTexts, name: Resources_ResourceName): string {
  switch (name) {
    case Resources_ResourceName.CPU:
      return limits.cpu;
    case Resources_ResourceName.MEMORY:
      return limits.memory;
    case Resources_ResourceName.EPHEMERAL_STORAGE:
      return limits.ephemeralStorage;
    case Resources_ResourceName.GPU:
      return limits.gpu;
    case Resources_ResourceName.STORAGE:
    case Resources_ResourceName.UNKNOWN:
      return "";
  }
}
