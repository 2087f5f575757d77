import type { Container, PodSpec } from "@flyte-ts/pod-task";

/** Returns the spec with its primary container changed. */
export function withPrimary(spec: PodSpec, name: string, change: (container: Container) => Container): PodSpec {
  return { ...spec, containers: spec.containers.map((container) => (container.name === name ? change(container) : container)) };
}

/** Returns the container of this name, or the first one when there is none. */
export function primaryOf(spec: PodSpec, name: string): Container | undefined {
  return spec.containers.find((container) => container.name === name) ?? spec.containers[0];
}

/** Returns the container with other arguments and without a command of its own. */
export function withArgs(container: Container, args: readonly string[]): Container {
  const { command: _, ...rest } = container;
  return { ...rest, args: [...args] };
}

/** Returns the container without arguments. */
export function withoutArgs(container: Container): Container {
  const { args: _, ...rest } = container;
  return rest;
}
