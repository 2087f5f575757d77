import { create } from "@bufbuild/protobuf";
import { compareQuantities } from "@flyte-ts/domain/quantity";
import { ResourcesSchema, Resources_ResourceName as Name, type Resources, type TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { PlatformResources, ResourceQuantities } from "../model/model.js";
import { quantityOrZero } from "./quantity-or-zero.js";

const KINDS = [
  { name: Name.CPU, field: "cpu", always: true },
  { name: Name.MEMORY, field: "memory", always: true },
  { name: Name.EPHEMERAL_STORAGE, field: "ephemeralStorage", always: false },
  { name: Name.GPU, field: "gpu", always: false },
] as const satisfies readonly { name: Name; field: keyof ResourceQuantities; always: boolean }[];

/**
 * Completes the resources of a task's container: a missing request becomes the limit or the
 * platform's default, a missing limit becomes the request or the platform's default limit,
 * whichever is more, and both are capped by the platform's limit. Storage and GPUs appear only
 * where the task or the platform sets them. Invalid quantities count as missing.
 */
export function applyPlatformResources(template: TaskTemplate, platform: PlatformResources): TaskTemplate {
  if (template.target.case !== "container") return template;
  const container = template.target.value;
  const resources = create(ResourcesSchema);
  for (const { name, field, always } of KINDS) {
    const requested = quantity(container.resources?.requests, name);
    const limited = quantity(container.resources?.limits, name);
    const [platformDefault, platformLimit] = [quantityOrZero(platform.defaults[field]), quantityOrZero(platform.limits[field])];
    if (!always && requested === "0" && limited === "0" && platformDefault === "0") continue;
    const request = [requested, limited, platformDefault].find((value) => value !== "0") ?? "0";
    const limit = capAt(limited === "0" ? raiseTo(request, quantityOrZero(platform.defaultLimits?.[field] ?? "")) : limited, platformLimit);
    resources.requests.push({
      $typeName: "flyteidl.core.Resources.ResourceEntry",
      name,
      value: capAt(capAt(request, platformLimit), limit),
    });
    resources.limits.push({ $typeName: "flyteidl.core.Resources.ResourceEntry", name, value: limit });
  }
  return { ...template, target: { case: "container", value: { ...container, resources } } };
}

function quantity(entries: Resources["requests"] | undefined, name: Name): string {
  return quantityOrZero(entries?.findLast((entry) => entry.name === name)?.value ?? "");
}

function raiseTo(value: string, min: string): string {
  return compareQuantities(value, min) < 0 ? min : value;
}

/** Returns the smaller one; zero on either side is no limit. */
function capAt(value: string, limit: string): string {
  return value !== "0" && limit !== "0" && compareQuantities(value, limit) > 0 ? limit : value;
}
