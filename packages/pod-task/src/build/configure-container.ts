import { renderTemplate, type TemplateContext } from "@flyte-ts/domain/template";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { templateContext } from "@flyte-ts/task-plugin";
import type { Container, EnvVar, JsonMap, PodTemplate, ResourceRequirements } from "../pod-types.js";
import { environmentSources, flyteEnvironment } from "./environment.js";
import type { BuildPodOptions } from "./pod-config.js";
import { templateResources } from "./pod-template.js";
import { containerResources, mergeResources, type PlatformResources, resolveResources } from "./resources.js";

/** Values of the attempt that every container of its pod gets. */
export interface RenderContext {
  readonly template: TemplateContext;
  readonly env: readonly EnvVar[];
  readonly envFrom: readonly JsonMap[];
  readonly base: PodTemplate | undefined;
  readonly override: ResourceRequirements;
  readonly platform: PlatformResources;
}

export function renderContext(request: TaskRequest, { config, base, taskTemplatePath }: BuildPodOptions): RenderContext {
  const gpuResourceName = config.scheduling.gpu.resourceName;
  return {
    template: templateContext(request, { taskTemplatePath }),
    env: flyteEnvironment(request, config.environment),
    envFrom: environmentSources(config.environment),
    base,
    override: containerResources(request.overrides?.resources, gpuResourceName),
    platform: {
      defaults: request.resourceDefaults,
      defaultLimits: request.resourceDefaultLimits,
      limits: request.resourceLimits,
      fallback: config.fallbackResources,
      gpuResourceName,
    },
  };
}

/**
 * Sets command, variables and resources of one container. The node's resource override applies to
 * the primary container; init containers get the platform's defaults, other containers only its
 * limits.
 */
export function configureContainer(
  container: Container,
  context: RenderContext,
  role: { kind: "containers" | "initContainers"; primary: boolean },
): Container {
  const { template, env, envFrom, base, override, platform } = context;
  const inline = mergeResources(templateResources(base, container.name, role.kind), container.resources);
  const requested = role.primary ? mergeResources(inline, override) : inline;
  return {
    ...container,
    command: renderTemplate(container.command ?? [], template),
    args: renderTemplate(container.args ?? [], template),
    env: [...(container.env ?? []), ...env],
    envFrom: [...(container.envFrom ?? []), ...envFrom],
    resources: resolveResources(requested, platform, role.primary || role.kind === "initContainers"),
  };
}

/** Removes empty lists, as Kubernetes does. */
export function dropEmptyFields({ command, args, env, envFrom, ...container }: Container): Container {
  return {
    ...container,
    ...(command?.length ? { command } : {}),
    ...(args?.length ? { args } : {}),
    ...(env?.length ? { env } : {}),
    ...(envFrom?.length ? { envFrom } : {}),
  };
}
