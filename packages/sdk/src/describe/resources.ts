import { create } from "@bufbuild/protobuf";
import {
  type ExtendedResources as ExtendedResourcesMessage,
  ExtendedResourcesSchema,
  type Resources as ResourcesMessage,
  type Resources_ResourceEntry,
  Resources_ResourceEntrySchema,
  Resources_ResourceName as Name,
  ResourcesSchema,
} from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { ResourceAmounts, Resources } from "../entity/settings.js";

/** Returns requests and limits; they are equal unless both are given. */
export function resourcesOf(resources: Resources): ResourcesMessage {
  if ("request" in resources || "limit" in resources) {
    return create(ResourcesSchema, { requests: entriesOf(resources.request ?? {}), limits: entriesOf(resources.limit ?? {}) });
  }
  const entries = entriesOf(resources as ResourceAmounts);
  return create(ResourcesSchema, { requests: entries, limits: entries });
}

function entriesOf({ cpu, memory, gpu, ephemeralStorage }: ResourceAmounts): Resources_ResourceEntry[] {
  const amounts = [
    [Name.CPU, cpu],
    [Name.MEMORY, memory],
    [Name.GPU, gpu],
    [Name.EPHEMERAL_STORAGE, ephemeralStorage],
  ] as const;
  return amounts.flatMap(([name, value]) =>
    value === undefined ? [] : [create(Resources_ResourceEntrySchema, { name, value: String(value) })],
  );
}

/** Returns the kind of GPU and the shared memory; undefined when neither is given. */
export function extendedResourcesOf({ accelerator, sharedMemory }: Resources): ExtendedResourcesMessage | undefined {
  if (accelerator === undefined && sharedMemory === undefined) return undefined;
  return create(ExtendedResourcesSchema, {
    ...(accelerator !== undefined && { gpuAccelerator: acceleratorOf(accelerator) }),
    ...(sharedMemory !== undefined && {
      sharedMemory: { mountName: "flyte-shared-memory", mountPath: "/dev/shm", sizeLimit: sharedMemory === true ? "" : sharedMemory },
    }),
  });
}

function acceleratorOf(accelerator: NonNullable<Resources["accelerator"]>) {
  if (typeof accelerator === "string") return { device: accelerator };
  const { device, partition } = accelerator;
  return { device, ...(partition !== undefined && { partitionSizeValue: { case: "partitionSize" as const, value: partition } }) };
}
