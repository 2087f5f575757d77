import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { addCopilot } from "../copilot/add-copilot.js";
import { isCopilot } from "../copilot/copilot-container.js";
import type { Container, PodSpec } from "../pod-types.js";
import { configureContainer, dropEmptyFields, type RenderContext, renderContext } from "./configure-container.js";
import { declaredPod } from "./declared-pod.js";
import { environmentSources, installationEnvironment } from "./environment.js";
import { InvalidPodSpecError } from "./invalid-pod-spec.js";
import type { BuildPodOptions } from "./pod-config.js";
import { applyPodTemplate } from "./pod-template.js";
import { applyAccelerator, applyScheduling, lastDefined } from "./scheduling.js";
import { addSecrets } from "./secrets.js";
import { addSharedMemory } from "./shared-memory.js";
import { webhookSecretRequest } from "./webhook-secret-request.js";

/**
 * A pod spec with Flyte's additions, for a pod or for the pod template of an operator's resource.
 */
export interface BuiltPodSpec {
  readonly spec: PodSpec;
  /** Labels of the PodTemplate, the task and its secrets. */
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly primaryContainer: string;
}

/**
 * Builds the pod spec of an attempt. Pure: the same request gives the same spec.
 * @throws InvalidPodSpecError, TemplateError, QuantityError: errors of the task.
 */
export function buildPodSpec(request: TaskRequest, options: BuildPodOptions): BuiltPodSpec {
  const { config, base } = options;
  const { template, overrides } = request;
  const gpu = config.scheduling.gpu;
  const declared = declaredPod(request, { gpuResourceName: gpu.resourceName, imagePullPolicy: config.imagePullPolicy });
  const { primaryContainer } = declared;
  if (!declared.spec.containers.some(({ name }) => name === primaryContainer)) {
    throw new InvalidPodSpecError(`primary container ${JSON.stringify(primaryContainer)}: the pod has no container of that name`);
  }
  let spec = configureContainers(declared.spec, renderContext(request, options), primaryContainer);
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
  return {
    spec: mapContainers(spec, dropEmptyFields),
    labels: { ...base?.template.metadata?.labels, ...declared.labels, ...requested.labels },
    annotations: { ...base?.template.metadata?.annotations, ...declared.annotations, ...requested.annotations },
    primaryContainer,
  };
}

function configureContainers(spec: PodSpec, context: RenderContext, primaryContainer: string): PodSpec {
  return mapContainers(spec, (container, kind) =>
    configureContainer(container, context, { kind, primary: kind === "containers" && container.name === primaryContainer }),
  );
}

function mapContainers(spec: PodSpec, mapContainer: (container: Container, kind: "containers" | "initContainers") => Container): PodSpec {
  return {
    ...spec,
    containers: spec.containers.map((container) => mapContainer(container, "containers")),
    ...(spec.initContainers === undefined
      ? {}
      : { initContainers: spec.initContainers.map((container) => mapContainer(container, "initContainers")) }),
  };
}

function mapPrimaryContainer(spec: PodSpec, primary: string, mapContainer: (container: Container) => Container): PodSpec {
  return { ...spec, containers: spec.containers.map((container) => (container.name === primary ? mapContainer(container) : container)) };
}

function serviceAccountField({ serviceAccountName }: PodSpec, { securityContext }: TaskRequest): Partial<PodSpec> {
  const name = serviceAccountName || (securityContext?.runAs?.k8sServiceAccount ?? "");
  return name === "" ? {} : { serviceAccountName: name };
}
