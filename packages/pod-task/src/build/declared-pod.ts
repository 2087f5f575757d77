import type { JsonObject } from "@bufbuild/protobuf";
import type { K8sPod, TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Container, PodSpec } from "../pod-types.js";
import { InvalidPodSpecError } from "./invalid-pod-spec.js";
import { toEnvVars } from "./environment.js";
import { containerResources } from "./resources.js";

export const PRIMARY_CONTAINER_KEY = "primary_container_name";

/** The pod as the task's author wrote it, before Flyte's additions. */
export interface DeclaredPod {
  readonly spec: PodSpec;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly primaryContainer: string;
}

export interface DeclaredPodOptions {
  readonly gpuResourceName: string;
  /** Empty: Kubernetes decides. */
  readonly imagePullPolicy: string;
}

/**
 * Reads the pod from the place that the task's type uses: `custom` for sidecar
 * tasks of versions 0 and 1, else the container or the k8s_pod of the template; a pod template of
 * the node replaces it.
 * @throws InvalidPodSpecError
 */
export function declaredPod(request: TaskRequest, options: DeclaredPodOptions): DeclaredPod {
  const template = request.template as TaskTemplate;
  if (template.type === "sidecar" && template.taskTypeVersion === 0) return sidecarV0(template);
  if (template.type === "sidecar" && template.taskTypeVersion === 1) return sidecarV1(template);
  const override = request.overrides?.podTemplate;
  const metadata = template.target.case === "k8sPod" ? template.target.value.metadata : undefined;
  const labels = { ...metadata?.labels, ...override?.metadata?.labels };
  const annotations = { ...metadata?.annotations, ...override?.metadata?.annotations };
  if (override?.podSpec !== undefined && template.target.case !== undefined) {
    return {
      spec: requirePodSpec(override, "pod_template.pod_spec"),
      labels,
      annotations,
      primaryContainer: override.primaryContainerName,
    };
  }
  switch (template.target.case) {
    case "container": {
      const container = declaredContainer(request, options);
      return { spec: { containers: [container] }, labels: {}, annotations: {}, primaryContainer: container.name };
    }
    case "k8sPod":
      return {
        spec: requirePodSpec(template.target.value, "k8s_pod.pod_spec"),
        labels,
        annotations,
        primaryContainer: primaryContainerName(template),
      };
    case "sql":
    case undefined:
      throw new InvalidPodSpecError("template.target: a container or a k8s_pod is required");
  }
}

function declaredContainer({ template, generatedName }: TaskRequest, { gpuResourceName, imagePullPolicy }: DeclaredPodOptions): Container {
  const target = template?.target;
  if (target?.case !== "container") throw new InvalidPodSpecError("template.container: is required");
  const { image, command, args, env, resources } = target.value;
  return {
    name: generatedName,
    image,
    command,
    args,
    env: toEnvVars(env),
    resources: containerResources(resources, gpuResourceName),
    terminationMessagePolicy: "FallbackToLogsOnError",
    ...(imagePullPolicy === "" ? {} : { imagePullPolicy }),
  };
}

function requirePodSpec({ podSpec: spec }: K8sPod, field: string): PodSpec {
  if (spec === undefined) throw new InvalidPodSpecError(`${field}: is required`);
  return parsePodSpec(spec, field);
}

function sidecarV0({ custom }: TaskTemplate): DeclaredPod {
  const job = Object.fromEntries(Object.entries(custom ?? {}).map(([key, value]) => [key.toLowerCase().replaceAll("_", ""), value]));
  if (typeof job.podspec !== "object" || job.podspec === null)
    throw new InvalidPodSpecError("custom.podSpec: is required for a sidecar task");
  return {
    spec: parsePodSpec(job.podspec as JsonObject, "custom.podSpec"),
    labels: { ...(job.labels as Record<string, string> | undefined) },
    annotations: { ...(job.annotations as Record<string, string> | undefined) },
    primaryContainer: typeof job.primarycontainername === "string" ? job.primarycontainername : "",
  };
}

function sidecarV1(template: TaskTemplate): DeclaredPod {
  if (template.custom === undefined) throw new InvalidPodSpecError("custom: must contain the pod spec of a sidecar task");
  const metadata = template.target.case === "k8sPod" ? template.target.value.metadata : undefined;
  return {
    spec: parsePodSpec(template.custom, "custom"),
    labels: { ...metadata?.labels },
    annotations: { ...metadata?.annotations },
    primaryContainer: primaryContainerName(template),
  };
}

function primaryContainerName({ config }: TaskTemplate): string {
  const name = config[PRIMARY_CONTAINER_KEY];
  if (name === undefined) throw new InvalidPodSpecError(`config.${PRIMARY_CONTAINER_KEY}: is required for a pod task`);
  return name;
}

/** Returns a mutable copy. */
function parsePodSpec(json: JsonObject, field: string): PodSpec {
  const spec = structuredClone(json) as unknown as PodSpec;
  if (!Array.isArray(spec.containers)) throw new InvalidPodSpecError(`${field}.containers: is required`);
  return spec;
}
