import type { JsonObject } from "@bufbuild/protobuf";
import type { K8sPod, TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Container, PodSpec } from "../kube/pod-types.js";
import { BadSpecification } from "./bad-specification.js";
import { keyValues } from "./environment.js";
import { resourcesOf } from "./resources.js";

export const PRIMARY_CONTAINER = "primary_container_name";

/** The pod as the task's author wrote it, before Flyte's additions. */
export interface RawPod {
  readonly spec: PodSpec;
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly primaryContainer: string;
}

export interface RawPodOptions {
  readonly gpuResourceName: string;
  /** Empty: Kubernetes decides. */
  readonly imagePullPolicy: string;
}

/**
 * Reads the pod from the place that the task's type uses (contract §7.1): `custom` for sidecar tasks of versions 0 and
 * 1, else the container or the k8s_pod of the template; a pod template of the node replaces it.
 * @throws BadSpecification
 */
export function rawPod(request: TaskRequest, options: RawPodOptions): RawPod {
  const template = request.template as TaskTemplate;
  if (template.type === "sidecar" && template.taskTypeVersion === 0) return sidecarOfVersion0(template);
  if (template.type === "sidecar" && template.taskTypeVersion === 1) return sidecarOfVersion1(template);
  const override = request.overrides?.podTemplate;
  const metadata = template.target.case === "k8sPod" ? template.target.value.metadata : undefined;
  const labels = { ...metadata?.labels, ...override?.metadata?.labels };
  const annotations = { ...metadata?.annotations, ...override?.metadata?.annotations };
  if (override?.podSpec !== undefined && template.target.case !== undefined) {
    return { spec: podSpec(override, "pod_template.pod_spec"), labels, annotations, primaryContainer: override.primaryContainerName };
  }
  switch (template.target.case) {
    case "container": {
      const container = containerOf(request, options);
      return { spec: { containers: [container] }, labels: {}, annotations: {}, primaryContainer: container.name };
    }
    case "k8sPod":
      return {
        spec: podSpec(template.target.value, "k8s_pod.pod_spec"),
        labels,
        annotations,
        primaryContainer: primaryFromConfig(template),
      };
    case "sql":
    case undefined:
      throw new BadSpecification("template.target: a container or a k8s_pod is required");
  }
}

function containerOf({ template, generatedName }: TaskRequest, { gpuResourceName, imagePullPolicy }: RawPodOptions): Container {
  const target = template?.target;
  if (target?.case !== "container") throw new BadSpecification("template.container: is required");
  const { image, command, args, env, resources } = target.value;
  return {
    name: generatedName,
    image,
    command,
    args,
    env: keyValues(env),
    resources: resourcesOf(resources, gpuResourceName),
    terminationMessagePolicy: "FallbackToLogsOnError",
    ...(imagePullPolicy === "" ? {} : { imagePullPolicy }),
  };
}

function podSpec({ podSpec: spec }: K8sPod, field: string): PodSpec {
  if (spec === undefined) throw new BadSpecification(`${field}: is required`);
  return checked(spec, field);
}

function sidecarOfVersion0({ custom }: TaskTemplate): RawPod {
  const job = Object.fromEntries(Object.entries(custom ?? {}).map(([key, value]) => [key.toLowerCase().replaceAll("_", ""), value]));
  if (typeof job.podspec !== "object" || job.podspec === null) throw new BadSpecification("custom.podSpec: is required for a sidecar task");
  return {
    spec: checked(job.podspec as JsonObject, "custom.podSpec"),
    labels: { ...(job.labels as Record<string, string> | undefined) },
    annotations: { ...(job.annotations as Record<string, string> | undefined) },
    primaryContainer: typeof job.primarycontainername === "string" ? job.primarycontainername : "",
  };
}

function sidecarOfVersion1(template: TaskTemplate): RawPod {
  if (template.custom === undefined) throw new BadSpecification("custom: a sidecar task has its pod spec there");
  const metadata = template.target.case === "k8sPod" ? template.target.value.metadata : undefined;
  return {
    spec: checked(template.custom, "custom"),
    labels: { ...metadata?.labels },
    annotations: { ...metadata?.annotations },
    primaryContainer: primaryFromConfig(template),
  };
}

function primaryFromConfig({ config }: TaskTemplate): string {
  const name = config[PRIMARY_CONTAINER];
  if (name === undefined) throw new BadSpecification(`config.${PRIMARY_CONTAINER}: is required for a pod task`);
  return name;
}

/** Returns a mutable copy. */
function checked(json: JsonObject, field: string): PodSpec {
  const spec = structuredClone(json) as unknown as PodSpec;
  if (!Array.isArray(spec.containers)) throw new BadSpecification(`${field}.containers: is required`);
  return spec;
}
