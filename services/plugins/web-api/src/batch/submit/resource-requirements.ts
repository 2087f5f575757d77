import type { PlatformCapability, ResourceRequirement } from "@aws-sdk/client-batch";
import { parseQuantity } from "@flyte-ts/domain/quantity";
import { type Resources, Resources_ResourceName as Name } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { badTask } from "../../task/bad-task.js";
import { fargateSize } from "./fargate-sizes.js";

const NANOS = 1e9;
const MIB = 1024 * 1024;
/** Sizes of a container that neither the task nor the platform states. */
const FALLBACK = { cpu: "1", memory: "1Gi" };

/**
 * Resources of the container. The node's take precedence over the task's and the platform's
 * defaults, and limits over requests; the platform's limits apply. Memory is in MiB, rounded up.
 * Fargate jobs get the smallest sufficient size of Fargate, EC2 jobs whole vCPUs and GPUs.
 *
 * @throws PermanentFailure for a bad quantity, or more than Fargate offers.
 */
export function resourceRequirements(request: TaskRequest, platform: PlatformCapability): ResourceRequirement[] {
  const { resourceDefaults: defaults, resourceLimits: max } = request;
  const cpu = capped(sizeOf(request, Name.CPU) ?? amount(defaults?.cpu || FALLBACK.cpu, "cpu"), max?.cpu, "cpu");
  const memory = capped(sizeOf(request, Name.MEMORY) ?? amount(defaults?.memory || FALLBACK.memory, "memory"), max?.memory, "memory");
  const gpu = capped(sizeOf(request, Name.GPU) ?? 0, max?.gpu, "gpu");
  const mib = Math.max(1, Math.ceil(memory / MIB));
  if (platform === "EC2") return requirements(String(Math.max(1, Math.ceil(cpu))), mib, Math.ceil(gpu));
  if (gpu > 0) throw badTask("Fargate has no GPUs: use platformCapabilities EC2");
  const size = fargateSize(cpu, mib);
  if (size === undefined) throw badTask(`Fargate offers no size of ${cpu} vCPUs and ${mib} MiB`);
  return requirements(size.vcpu, size.mib, 0);
}

function requirements(vcpu: string, mib: number, gpu: number): ResourceRequirement[] {
  return [
    { type: "VCPU", value: vcpu },
    { type: "MEMORY", value: String(mib) },
    ...(gpu > 0 ? [{ type: "GPU" as const, value: String(gpu) }] : []),
  ];
}

function sizeOf({ overrides, template }: TaskRequest, name: Name): number | undefined {
  const container = template?.target.case === "container" ? template.target.value.resources : undefined;
  return declared(overrides?.resources, name) ?? declared(container, name);
}

function declared(resources: Resources | undefined, name: Name): number | undefined {
  const find = (entries: Resources["limits"] = []) => entries.find((entry) => entry.name === name && entry.value !== "")?.value;
  const text = find(resources?.limits) ?? find(resources?.requests);
  return text === undefined ? undefined : amount(text, Name[name].toLowerCase());
}

function capped(value: number, max: string | undefined, name: string): number {
  const limit = max ? amount(max, name) : 0;
  return limit > 0 ? Math.min(value, limit) : value;
}

function amount(text: string, name: string): number {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw badTask(`resources.${name}: ${JSON.stringify(text)} is not a quantity, such as 500m, 2 or 1Gi`);
  return Number(quantity.nanos) / NANOS;
}
