import { compareQuantities, parseQuantity } from "@flyte-ts/domain/quantity";
import { escapeReferences } from "@flyte-ts/domain/template";
import { Resources_ResourceName as Name } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { declaredPod } from "../build/declared-pod.js";
import type { Container } from "../pod-types.js";

const NANOS_PER_CPU = 1_000_000_000n;

/** CPUs of a container: its limit, else its request, rounded up; at least 1. */
export function cpuCount({ resources }: Container): number {
  return cpusOf(resources?.limits?.["cpu"] ?? resources?.requests?.["cpu"]) ?? 1;
}

/** Whole CPUs of a quantity, rounded up; undefined for none, zero and an invalid text. */
export function cpusOf(quantity: string | undefined): number | undefined {
  const nanos = parseQuantity(quantity ?? "")?.nanos ?? 0n;
  return nanos > 0n ? Number((nanos + NANOS_PER_CPU - 1n) / NANOS_PER_CPU) : undefined;
}

/** Adds variables to a container; those that the task sets itself stay as they are. */
export function withVariables(container: Container, variables: Readonly<Record<string, string>>): Container {
  const own = new Set(container.env?.map(({ name }) => name));
  const added = Object.entries(variables).flatMap(([name, value]) => (own.has(name) ? [] : [{ name, value: escapeReferences(value) }]));
  return { ...container, env: [...(container.env ?? []), ...added] };
}

/**
 * Raises the memory limit of a task that requests no memory: the platform's default is meant for
 * one process.
 */
export function withMemory(container: Container, request: TaskRequest, memory: string): Container {
  if (requestsMemory(request)) return container;
  const max = request.resourceLimits?.memory ?? "";
  const raised = max !== "" && compareQuantities(memory, max) > 0 ? max : memory;
  const current = container.resources?.limits?.["memory"];
  if (current !== undefined && compareQuantities(current, raised) >= 0) return container;
  const { resources } = container;
  return { ...container, resources: { ...resources, limits: { ...resources?.limits, memory: raised } } };
}

/**
 * True when the task or its node sets a request or a limit of memory. Admin writes the platform's
 * defaults into a task that sets none: these do not count.
 */
function requestsMemory(request: TaskRequest): boolean {
  const overridden = request.overrides?.resources;
  const entries = [...(overridden?.requests ?? []), ...(overridden?.limits ?? [])];
  const { spec, primaryContainer } = declaredPod(request, { gpuResourceName: "", imagePullPolicy: "" });
  const own = spec.containers.find(({ name }) => name === primaryContainer)?.resources;
  const stated = [
    ...entries.flatMap(({ name, value }) => (name === Name.MEMORY ? [value] : [])),
    own?.requests?.["memory"] ?? "",
    own?.limits?.["memory"] ?? "",
  ];
  const defaults = [request.resourceDefaults?.memory ?? "", request.resourceDefaultLimits?.memory ?? ""];
  return stated.some((value) => value !== "" && !defaults.includes(value));
}
