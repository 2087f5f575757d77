import { renderTemplate, type TemplateContext } from "@flyte-ts/domain";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Container, EnvVar, JsonMap, Pod, PodSpec, PodTemplate, ResourceRequirements } from "../kube/pod-types.js";
import { BadSpecification } from "./bad-specification.js";
import { type CopilotConfig, isCopilot, withCopilot } from "./copilot.js";
import { type EnvironmentConfig, environmentSources, flyteEnvironment, installationEnvironment } from "./environment.js";
import { objectMeta, type ObjectMetaConfig } from "./object-meta.js";
import { onTemplate, templateResources } from "./pod-template.js";
import { PRIMARY_CONTAINER, rawPod } from "./raw-pod.js";
import { mergeResources, type PlatformResources, resourcesOf, settleResources } from "./resources.js";
import { lastOf, onAccelerator, scheduled, type SchedulingConfig } from "./scheduling.js";
import { secretRequests } from "./secret-requests.js";
import { withSecrets } from "./secrets.js";
import { withSharedMemory } from "./shared-memory.js";

/** Settings of an installation for every pod. */
export interface PodConfig {
  readonly metadata: ObjectMetaConfig;
  readonly environment: EnvironmentConfig;
  readonly scheduling: SchedulingConfig;
  readonly fallbackResources: { readonly cpu: string; readonly memory: string };
  readonly imagePullPolicy: string;
  /** Security context of the primary container, unless the task sets one. */
  readonly containerSecurityContext?: JsonMap | undefined;
  readonly copilot: CopilotConfig;
  /** Source of secrets: this service, from Kubernetes Secrets, or Flyte's webhook. */
  readonly secrets: "kubernetes" | "webhook";
}

export interface BuildPodOptions {
  readonly config: PodConfig;
  /** The PodTemplate to build on. */
  readonly base?: PodTemplate | undefined;
  /** URI of task.pb, when the command needs it. */
  readonly taskTemplatePath?: string | undefined;
}

/**
 * Builds the pod of an attempt (contract §6.1). Pure: the same request gives the same pod.
 * @throws BadSpecification, TemplateError, QuantityError: errors of the task.
 */
export function buildPod(request: TaskRequest, options: BuildPodOptions): Pod {
  const { config, base } = options;
  const { template, overrides } = request;
  const gpu = config.scheduling.gpu;
  const raw = rawPod(request, { gpuResourceName: gpu.resourceName, imagePullPolicy: config.imagePullPolicy });
  const { primaryContainer } = raw;
  if (!raw.spec.containers.some(({ name }) => name === primaryContainer)) {
    throw new BadSpecification(`primary container ${JSON.stringify(primaryContainer)}: the pod has no container of that name`);
  }
  const context = containerContext(request, options);

  let spec: PodSpec = {
    ...raw.spec,
    containers: raw.spec.containers.map((container) =>
      customised(container, context, { kind: "containers", primary: container.name === primaryContainer }),
    ),
    ...(raw.spec.initContainers === undefined
      ? {}
      : {
          initContainers: raw.spec.initContainers.map((container) =>
            customised(container, context, { kind: "initContainers", primary: false }),
          ),
        }),
  };
  const copiloted = withCopilot(spec, request, {
    config: config.copilot,
    environment: { env: installationEnvironment(config.environment), envFrom: environmentSources(config.environment) },
    primaryContainer,
  });
  spec = { ...copiloted.spec, ...serviceAccount(copiloted.spec, request) };
  spec = scheduled(spec, config.scheduling, request.interruptible);
  spec = onPrimary(spec, primaryContainer, (container) => ({
    ...container,
    ...(container.securityContext === undefined && config.containerSecurityContext !== undefined
      ? { securityContext: config.containerSecurityContext }
      : {}),
  }));
  if (base !== undefined) spec = onTemplate(base, spec, { container: primaryContainer, initContainer: copiloted.initContainer });
  const extended = [template?.extendedResources, overrides?.extendedResources];
  spec = onAccelerator(spec, extended, gpu);
  spec = withSharedMemory(spec, lastOf(extended.map((resources) => resources?.sharedMemory)), primaryContainer);
  const image = overrides?.containerImage ?? "";
  if (image !== "") spec = onPrimary(spec, primaryContainer, (container) => ({ ...container, image }));
  const secrets = template?.securityContext?.secrets ?? [];
  if (config.secrets === "kubernetes") spec = withSecrets(spec, secrets, (container) => !isCopilot(container, config.copilot));
  const asked = secretRequests(config.secrets === "webhook" ? secrets : []);

  const marked: Record<string, string> = isMarked(request, spec) ? { [PRIMARY_CONTAINER]: primaryContainer } : {};
  const labels = { ...base?.template.metadata?.labels, ...raw.labels, ...asked.labels };
  const annotations = { ...base?.template.metadata?.annotations, ...raw.annotations, ...marked, ...asked.annotations };
  return { apiVersion: "v1", kind: "Pod", metadata: objectMeta(request, { labels, annotations }, config.metadata), spec: tidy(spec) };
}

interface ContainerContext {
  readonly template: TemplateContext;
  readonly env: readonly EnvVar[];
  readonly envFrom: readonly JsonMap[];
  readonly base: PodTemplate | undefined;
  readonly override: ResourceRequirements;
  readonly platform: PlatformResources;
}

function containerContext(request: TaskRequest, { config, base, taskTemplatePath }: BuildPodOptions): ContainerContext {
  const gpuResourceName = config.scheduling.gpu.resourceName;
  return {
    template: {
      inputPath: request.inputUri,
      inputPrefix: request.inputUri.slice(0, Math.max(0, request.inputUri.lastIndexOf("/"))),
      outputPrefix: request.outputPrefix,
      rawOutputPrefix: request.rawOutputPrefix,
      checkpointPrefix: `${request.rawOutputPrefix}/_flytecheckpoints`,
      previousCheckpointPrefix: request.previousCheckpointUri,
      uniqueId: request.generatedName,
      namespace: request.namespace,
      taskTemplatePath,
      inputs: request.inputs,
    },
    env: flyteEnvironment(request, config.environment),
    envFrom: environmentSources(config.environment),
    base,
    override: resourcesOf(request.overrides?.resources, gpuResourceName),
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
 * Sets command, variables and resources of one container. The node's resource override applies to the primary
 * container; init containers get the platform's defaults, other containers only its limits.
 */
function customised(
  container: Container,
  context: ContainerContext,
  role: { kind: "containers" | "initContainers"; primary: boolean },
): Container {
  const { template, env, envFrom, base, override, platform } = context;
  const inline = mergeResources(templateResources(base, container.name, role.kind), container.resources);
  const asked = role.primary ? mergeResources(inline, override) : inline;
  return {
    ...container,
    command: renderTemplate(container.command ?? [], template),
    args: renderTemplate(container.args ?? [], template),
    env: [...(container.env ?? []), ...env],
    envFrom: [...(container.envFrom ?? []), ...envFrom],
    resources: settleResources(asked, platform, role.primary || role.kind === "initContainers"),
  };
}

function onPrimary(spec: PodSpec, primary: string, change: (container: Container) => Container): PodSpec {
  return { ...spec, containers: spec.containers.map((container) => (container.name === primary ? change(container) : container)) };
}

function serviceAccount({ serviceAccountName }: PodSpec, { securityContext }: TaskRequest): Partial<PodSpec> {
  const name = serviceAccountName || (securityContext?.runAs?.k8sServiceAccount ?? "");
  return name === "" ? {} : { serviceAccountName: name };
}

/** True when the attempt ends with its primary container: pod tasks, and pods of one container. A raw container's copilot outlives it. */
function isMarked({ template }: TaskRequest, { containers }: PodSpec): boolean {
  return template?.type === "sidecar" || (containers.length === 1 && template?.type !== "raw-container");
}

/** Removes empty lists, as Kubernetes does. */
function tidy(spec: PodSpec): PodSpec {
  const tidyContainer = ({ command, args, env, envFrom, ...container }: Container): Container => ({
    ...container,
    ...(command?.length ? { command } : {}),
    ...(args?.length ? { args } : {}),
    ...(env?.length ? { env } : {}),
    ...(envFrom?.length ? { envFrom } : {}),
  });
  return {
    ...spec,
    containers: spec.containers.map(tidyContainer),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(tidyContainer) }),
  };
}
