import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { type Container, type K8sPod, K8sPodSchema, Resources_ResourceName as Name } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { GraphError } from "../entity/errors.js";
import type { PodTemplate } from "../entity/settings.js";

const PRIMARY = "primary";

/**
 * Returns the pod of a task or node; the container of the task is merged into the container
 * `primary` of the template.
 */
export function podOf(template: PodTemplate, container?: Container): K8sPod {
  if (typeof template === "string") throw new GraphError("a node takes a pod template as an object; a task takes its name too");
  const { labels = {}, annotations = {}, spec } = template;
  return create(K8sPodSchema, {
    primaryContainerName: PRIMARY,
    metadata: { labels, annotations },
    podSpec: container === undefined ? spec : { ...spec, containers: withContainer(spec["containers"], container) },
  });
}

function withContainer(containers: JsonValue | undefined, container: Container): JsonValue[] {
  const given = Array.isArray(containers) ? containers : [];
  const primary = given.find(isPrimary) ?? {};
  const further = given.filter((each) => !isPrimary(each));
  const merged = { ...(primary as JsonObject), ...kubernetesContainer(container, primary as JsonObject) };
  return [merged, ...further];
}

function isPrimary(container: JsonValue): boolean {
  return typeof container === "object" && container !== null && !Array.isArray(container) && container["name"] === PRIMARY;
}

function kubernetesContainer(container: Container, primary: JsonObject): JsonObject {
  const { image, command, args, resources, env } = container;
  const given = Array.isArray(primary["env"]) ? primary["env"] : [];
  const variables = [...given, ...env.map(({ key, value }) => ({ name: key, value }))];
  const requests = quantities(resources?.requests ?? []);
  const limits = quantities(resources?.limits ?? []);
  const hasResources = Object.keys(requests).length + Object.keys(limits).length > 0;
  return {
    name: PRIMARY,
    image,
    ...(command.length > 0 && { command: [...command] }),
    args: [...args],
    ...(variables.length > 0 && { env: variables }),
    ...(hasResources && { resources: { requests, limits } }),
  };
}

const KUBERNETES_NAMES: Readonly<Partial<Record<Name, string>>> = {
  [Name.CPU]: "cpu",
  [Name.MEMORY]: "memory",
  [Name.GPU]: "nvidia.com/gpu",
  [Name.EPHEMERAL_STORAGE]: "ephemeral-storage",
};

function quantities(entries: readonly { readonly name: Name; readonly value: string }[]): JsonObject {
  return Object.fromEntries(entries.map(({ name, value }) => [KUBERNETES_NAMES[name] ?? "", value]));
}
