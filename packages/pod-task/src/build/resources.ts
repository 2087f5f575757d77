import { canonicalQuantity, compareQuantities, isZeroQuantity } from "@flyte-ts/domain/quantity";
import { type Resources, type Resources_ResourceEntry, Resources_ResourceName as Name } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { ResourceSet } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ResourceRequirements } from "../pod-types.js";
import { InvalidPodSpecError } from "./invalid-pod-spec.js";

type Quantities = Record<string, string>;

export interface PlatformResources {
  readonly defaults: ResourceSet | undefined;
  readonly defaultLimits: ResourceSet | undefined;
  readonly limits: ResourceSet | undefined;
  /** Used where neither the task nor the platform sets a value. */
  readonly fallback: { readonly cpu: string; readonly memory: string };
  /** Name of the resource `gpu` in this cluster. */
  readonly gpuResourceName: string;
}

/**
 * Resources of a container definition. `storage` is omitted: it sizes volumes and is not a
 * container resource.
 * @throws InvalidPodSpecError for an invalid quantity.
 */
export function containerResources(resources: Resources | undefined, gpuResourceName: string): ResourceRequirements {
  if (resources === undefined) return {};
  return omitEmpty({
    requests: quantitiesOf(resources.requests, gpuResourceName),
    limits: quantitiesOf(resources.limits, gpuResourceName),
  });
}

function quantitiesOf(entries: readonly Resources_ResourceEntry[], gpuResourceName: string): Quantities {
  const quantities: Quantities = {};
  for (const { name, value } of entries) {
    const key = resourceKey(name, gpuResourceName);
    if (key !== undefined && !isZero(key, value)) quantities[key] = value;
  }
  return quantities;
}

function resourceKey(name: Name, gpuResourceName: string): string | undefined {
  switch (name) {
    case Name.CPU:
      return "cpu";
    case Name.MEMORY:
      return "memory";
    case Name.GPU:
      return gpuResourceName;
    case Name.EPHEMERAL_STORAGE:
      return "ephemeral-storage";
    case Name.STORAGE:
    case Name.UNKNOWN:
      return undefined;
  }
}

/** Quantity of the `storage` resource: the limit, else the request. */
export function storageSize(resources: Resources | undefined): string | undefined {
  const find = (entries: readonly Resources_ResourceEntry[] = []) => entries.find(({ name }) => name === Name.STORAGE)?.value;
  return find(resources?.limits) ?? find(resources?.requests);
}

/**
 * Merges per resource, requests and limits separately: `over` where it has a value, else `base`.
 */
export function mergeResources(base: ResourceRequirements | undefined, over: ResourceRequirements | undefined): ResourceRequirements {
  return { requests: { ...base?.requests, ...over?.requests }, limits: { ...base?.limits, ...over?.limits } };
}

/**
 * Computes a container's resources. A missing request takes the limit. A missing limit takes the
 * request or the platform's default limit, whichever is more. When both are missing, the request
 * takes the platform's default. The platform's limit caps all values, and limits cap requests.
 * Ephemeral storage and GPUs are set only when requested. With `applyDefaults` false, missing
 * values stay missing and only the limits apply.
 *
 * @throws InvalidPodSpecError for an invalid quantity.
 */
export function resolveResources(
  requested: ResourceRequirements,
  platform: PlatformResources,
  applyDefaults: boolean,
): ResourceRequirements {
  const { gpuResourceName } = platform;
  const requests = renameGpu(requested.requests, gpuResourceName);
  const limits = renameGpu(requested.limits, gpuResourceName);
  const resolve = (key: string, rule: { fallback?: string | undefined; least?: string | undefined; most?: string | undefined }) => {
    let request = nonZeroQuantity(key, requests[key]);
    let limit = nonZeroQuantity(key, limits[key]);
    if (applyDefaults) {
      request ??= limit ?? nonZeroQuantity(key, rule.fallback);
      limit ??= raiseTo(request, nonZeroQuantity(key, rule.least));
    }
    request = capAt(capAt(request, rule.most), limit === undefined ? undefined : capAt(limit, rule.most));
    limit = capAt(limit, rule.most);
    setOrDelete(requests, key, request);
    setOrDelete(limits, key, limit);
  };
  const { defaults, defaultLimits, limits: max, fallback } = platform;
  resolve("cpu", { fallback: nonZero(defaults?.cpu) ?? fallback.cpu, least: defaultLimits?.cpu, most: max?.cpu });
  resolve("memory", { fallback: nonZero(defaults?.memory) ?? fallback.memory, least: defaultLimits?.memory, most: max?.memory });
  if (isRequested("ephemeral-storage")) {
    const fallback = defaults?.ephemeralStorage;
    resolve("ephemeral-storage", { fallback, least: defaultLimits?.ephemeralStorage, most: max?.ephemeralStorage });
  }
  if (isRequested(gpuResourceName)) resolve(gpuResourceName, { fallback: defaults?.gpu, most: max?.gpu });
  return omitEmpty({ requests: canonical(requests), limits: canonical(limits) });

  function isRequested(key: string): boolean {
    return requests[key] !== undefined || limits[key] !== undefined;
  }
}

function renameGpu(quantities: Quantities | undefined, gpuResourceName: string): Quantities {
  const { gpu, ...rest } = quantities ?? {};
  return gpu === undefined ? rest : { ...rest, [gpuResourceName]: gpu };
}

function setOrDelete(quantities: Quantities, key: string, value: string | undefined): void {
  if (value === undefined) delete quantities[key];
  else quantities[key] = value;
}

function raiseTo(value: string | undefined, minLimit: string | undefined): string | undefined {
  return value !== undefined && minLimit !== undefined && compareQuantities(value, minLimit) < 0 ? minLimit : value;
}

function capAt(value: string | undefined, max: string | undefined): string | undefined {
  if (value === undefined || nonZero(max) === undefined) return value;
  return compareQuantities(value, max as string) > 0 ? max : value;
}

function nonZero(value: string | undefined): string | undefined {
  return value === undefined || value === "" || isZeroQuantity(value) ? undefined : value;
}

function nonZeroQuantity(key: string, value: string | undefined): string | undefined {
  return value === undefined || isZero(key, value) ? undefined : value;
}

function isZero(key: string, value: string): boolean {
  try {
    return value === "" || isZeroQuantity(value);
  } catch (cause) {
    throw new InvalidPodSpecError(`resources.${key}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

function canonical(quantities: Quantities): Quantities {
  return Object.fromEntries(Object.entries(quantities).map(([key, value]) => [key, canonicalQuantity(value)]));
}

function omitEmpty({ requests = {}, limits = {} }: ResourceRequirements): ResourceRequirements {
  return {
    ...(Object.keys(limits).length > 0 ? { limits } : {}),
    ...(Object.keys(requests).length > 0 ? { requests } : {}),
  };
}
