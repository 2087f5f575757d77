import { renderTemplate, type TemplateContext } from "@flyte-ts/domain";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Container, EnvVar, JsonMap, Pod, PodSpec, PodTemplate, ResourceRequirements } from "../pod-types.js";
import { InvalidPodSpecError } from "./invalid-pod-spec.js";
import { type CopilotConfig, isCopilot, addCopilot } from "./copilot.js";
import { type EnvironmentConfig, environmentSources, flyteEnvironment, installationEnvironment } from "./environment.js";
import { objectMeta, type ObjectMetaConfig } from "./object-meta.js";
import { applyPodTemplate, templateResources } from "./pod-template.js";
import { PRIMARY_CONTAINER_KEY, declaredPod } from "./declared-pod.js";
import { mergeResources, type PlatformResources, containerResources, resolveResources } from "./resources.js";
import { lastDefined, applyAccelerator, applyScheduling, type SchedulingConfig } from "./scheduling.js";
import { webhookSecretRequest } from "./webhook-secret-request.js";
import { addSecrets } from "./secrets.js";
import { addSharedMemory } from "./shared-memory.js";

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
 * @throws InvalidPodSpecError, TemplateError, QuantityError: errors of the task.
 */
export function buildPod(request: TaskRequest, options: BuildPodOptions): Pod {
  const { config, base } = options;
  const { template, overrides } = request;
  const gpu = config.scheduling.gpu;
  const declared = declaredPod(request, { gpuResourceName: gpu.resourceName, imagePullPolicy: config.imagePullPolicy });
  const { primaryContainer } = declared;
  if (!declared.spec.containers.some(({ name }) => name === primaryContainer)) {
    throw new InvalidPodSpecError(`primary container ${JSON.stringify(primaryContainer)}: the pod has no container of that name`);
  }
  const context = renderContext(request, options);

  let spec: PodSpec = {
    ...declared.spec,
    containers: declared.spec.containers.map((container) =>
      configureContainer(container, context, { kind: "containers", primary: container.name === primaryContainer }),
    ),
    ...(declared.spec.initContainers === undefined
      ? {}
      : {
          initContainers: declared.spec.initContainers.map((container) =>
            configureContainer(container, context, { kind: "initContainers", primary: false }),
          ),
        }),
  };
  const withCopilot = addCopilot(spec, request, {
    config: config.copilot,
    environment: { env: installationEnvironment(config.environment), envFrom: environmentSources(config.environment) },
    primaryContainer,
  });
  spec = { ...withCopilot.spec, ...serviceAccountField(withCopilot.spec, request) };
  spec = applyScheduling(spec, config.scheduling, request.interruptible);
  spec = mapPrimaryContainer(spec, primaryContainer, (container) => ({
    ...container,
    ...(container.securityContext === undefined && config.containerSecurityContext !== undefined
      ? { securityContext: config.containerSecurityContext }
      : {}),
  }));
  if (base !== undefined) spec = applyPodTemplate(base, spec, { container: primaryContainer, initContainer: withCopilot.initContainer });
  const extended = [template?.extendedResources, overrides?.extendedResources];
  spec = applyAccelerator(spec, extended, gpu);
  spec = addSharedMemory(spec, lastDefined(extended.map((resources) => resources?.sharedMemory)), primaryContainer);
  const image = overrides?.containerImage ?? "";
  if (image !== "") spec = mapPrimaryContainer(spec, primaryContainer, (container) => ({ ...container, image }));
  const secrets = template?.securityContext?.secrets ?? [];
  if (config.secrets === "kubernetes") spec = addSecrets(spec, secrets, (container) => !isCopilot(container, config.copilot));
  const requested = webhookSecretRequest(config.secrets === "webhook" ? secrets : []);

  const primaryAnnotation: Record<string, string> = endsWithPrimary(request, spec) ? { [PRIMARY_CONTAINER_KEY]: primaryContainer } : {};
  const labels = { ...base?.template.metadata?.labels, ...declared.labels, ...requested.labels };
  const annotations = { ...base?.template.metadata?.annotations, ...declared.annotations, ...primaryAnnotation, ...requested.annotations };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: objectMeta(request, { labels, annotations }, config.metadata),
    spec: dropEmptyFields(spec),
  };
}

interface RenderContext {
  readonly template: TemplateContext;
  readonly env: readonly EnvVar[];
  readonly envFrom: readonly JsonMap[];
  readonly base: PodTemplate | undefined;
  readonly override: ResourceRequirements;
  readonly platform: PlatformResources;
}

function renderContext(request: TaskRequest, { config, base, taskTemplatePath }: BuildPodOptions): RenderContext {
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
 * Sets command, variables and resources of one container. The node's resource override applies to the primary
 * container; init containers get the platform's defaults, other containers only its limits.
 */
function configureContainer(
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

function mapPrimaryContainer(spec: PodSpec, primary: string, mapContainer: (container: Container) => Container): PodSpec {
  return { ...spec, containers: spec.containers.map((container) => (container.name === primary ? mapContainer(container) : container)) };
}

function serviceAccountField({ serviceAccountName }: PodSpec, { securityContext }: TaskRequest): Partial<PodSpec> {
  const name = serviceAccountName || (securityContext?.runAs?.k8sServiceAccount ?? "");
  return name === "" ? {} : { serviceAccountName: name };
}

/** True when the attempt ends with its primary container: pod tasks, and pods of one container. A raw container's copilot outlives it. */
function endsWithPrimary({ template }: TaskRequest, { containers }: PodSpec): boolean {
  return template?.type === "sidecar" || (containers.length === 1 && template?.type !== "raw-container");
}

/** Removes empty lists, as Kubernetes does. */
function dropEmptyFields(spec: PodSpec): PodSpec {
  const dropEmptyContainerFields = ({ command, args, env, envFrom, ...container }: Container): Container => ({
    ...container,
    ...(command?.length ? { command } : {}),
    ...(args?.length ? { args } : {}),
    ...(env?.length ? { env } : {}),
    ...(envFrom?.length ? { envFrom } : {}),
  });
  return {
    ...spec,
    containers: spec.containers.map(dropEmptyContainerFields),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(dropEmptyContainerFields) }),
  };
}
