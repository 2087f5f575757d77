import type { Container, PodSpec, PodTemplate, ResourceRequirements } from "../pod-types.js";

type JsonTree = { [key: string]: unknown };

// Containers of a template that represent roles instead of a container of that name.
const ROLES = {
  containers: { every: "default", primary: "primary" },
  initContainers: { every: "default-init", primary: "primary-init" },
} as const;
type Kind = keyof typeof ROLES;

/**
 * Merges `over` into `base`: objects key by key, lists concatenated; an empty value of `over`
 * (null, "", 0, false, empty list or object) is ignored.
 */
export function mergePodFields<T>(base: unknown, over: T): T {
  if (isJsonTree(base) && isJsonTree(over)) {
    const result: JsonTree = { ...base };
    for (const [key, value] of Object.entries(over)) result[key] = mergePodFields(base[key], value);
    return result as T;
  }
  if (Array.isArray(base) && Array.isArray(over)) return [...(base as unknown[]), ...(over as unknown[])] as T;
  return isEmpty(over) && base !== undefined ? (base as T) : over;
}

/**
 * Merges the pod spec into a PodTemplate's. The template's containers `default` and `primary`
 * (`default-init`, `primary-init`) give defaults to every container and to the primary one; others
 * give them to the container of their name and are not added.
 */
export function applyPodTemplate(template: PodTemplate, spec: PodSpec, primary: { container: string; initContainer: string }): PodSpec {
  const { containers = [], initContainers = [], ...base } = template.template.spec;
  const { containers: declaredContainers, initContainers: declaredInitContainers = [], ...rest } = spec;
  const result = mergePodFields(base, rest) as PodSpec;
  result.containers = declaredContainers.map((container) =>
    withDefaults(container, containers, { kind: "containers", primary: primary.container }),
  );
  const init = declaredInitContainers.map((container) =>
    withDefaults(container, initContainers, { kind: "initContainers", primary: primary.initContainer }),
  );
  if (init.length > 0) result.initContainers = init;
  return structuredClone(result);
}

function withDefaults(
  container: Container,
  templates: readonly Container[],
  { kind, primary }: { kind: Kind; primary: string },
): Container {
  const role = ROLES[kind];
  const isPrimary = container.name === primary && primary !== "";
  const layers = [
    templates.find(({ name }) => name === role.every),
    isPrimary
      ? templates.find(({ name }) => name === role.primary)
      : templates.find(({ name }) => name === container.name && name !== role.every),
  ];
  const defaults = layers.reduce<JsonTree>(
    (tree, layer) => (layer === undefined ? tree : mergePodFields(tree, layer as unknown as JsonTree)),
    {},
  );
  return mergePodFields(defaults, container);
}

/** A template's resources for a container: by its name, else by its role. */
export function templateResources(template: PodTemplate | undefined, container: string, kind: Kind): ResourceRequirements | undefined {
  const templates = template?.template.spec[kind] ?? [];
  const { every, primary } = ROLES[kind];
  return [container, primary, every]
    .map((candidate) => templates.find(({ name }) => name === candidate))
    .find((match) => match !== undefined)?.resources;
}

function isJsonTree(value: unknown): value is JsonTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonTree(value)) return Object.keys(value).length === 0;
  return value === undefined || value === null || value === "" || value === 0 || value === false;
}
