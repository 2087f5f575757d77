import type { JsonObject } from "@bufbuild/protobuf";
import {
  type AutoscalerOptions,
  AutoscalerOptions_UpscalingMode as UpscalingMode,
  type RayJob,
  RayJobSchema,
  type WorkerGroupSpec,
} from "@flyte-ts/idl/flyteidl/plugins/ray_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { containerResources } from "@flyte-ts/pod-task";
import { primaryOf } from "../build/containers.js";
import { decodeCustom } from "../build/custom.js";
import type { RolePodBuilder } from "../build/role-pod-builder.js";
import { shellCommand } from "./entrypoint.js";
import { headTemplate, submitterTemplate, workerTemplate } from "./pods.js";
import { runtimeEnvironment } from "./runtime-environment.js";
import type { RaySettings } from "./settings.js";
import { headStartParameters, workerStartParameters } from "./start-parameters.js";

/** Builds the spec of a RayJob: a cluster of its own, and the task's command as the job. */
export function buildRayJob(request: TaskRequest, pods: RolePodBuilder, settings: RaySettings): JsonObject {
  const job = decodeCustom(RayJobSchema, request);
  const { rayCluster } = job;
  const head = rayCluster?.headGroupSpec;
  const { spec, primaryContainer } = pods.build();
  const environment = runtimeEnvironment(job);
  return {
    entrypoint: shellCommand(primaryOf(spec, primaryContainer)?.args ?? []),
    ...shutdown(job, settings),
    ...(environment === undefined ? {} : { runtimeEnvYAML: environment }),
    ...submission(pods, settings),
    rayClusterSpec: {
      headGroupSpec: {
        serviceType: settings.serviceType,
        enableIngress: settings.enableIngress,
        rayStartParams: headStartParameters(head?.rayStartParams ?? {}, settings),
        template: headTemplate(pods, head?.k8sPod, settings),
      },
      workerGroupSpecs: (rayCluster?.workerGroupSpec ?? []).map((group) => workerGroup(group, pods, settings)),
      ...(rayCluster?.enableAutoscaling ? { enableInTreeAutoscaling: true } : {}),
      ...autoscaler(rayCluster?.autoscalerOptions, pods),
    },
  };
}

/**
 * The task's time to live applies only when the task itself enables the shutdown. KubeRay refuses a
 * time to live without a shutdown.
 */
function shutdown(job: RayJob, settings: RaySettings): JsonObject {
  if (job.shutdownAfterJobFinishes) return { shutdownAfterJobFinishes: true, ttlSecondsAfterFinished: job.ttlSecondsAfterFinished };
  const { shutdownAfterJobFinishes, ttlSecondsAfterFinished } = settings;
  return { shutdownAfterJobFinishes, ...(shutdownAfterJobFinishes ? { ttlSecondsAfterFinished } : {}) };
}

/** Only a Kubernetes Job has a pod that submits; KubeRay refuses its template in SidecarMode. */
function submission(pods: RolePodBuilder, settings: RaySettings): JsonObject {
  const { submissionMode } = settings;
  const mode: JsonObject = submissionMode === "" ? {} : { submissionMode };
  if (submissionMode === "HTTPMode" || submissionMode === "SidecarMode") return mode;
  return { ...mode, submitterPodTemplate: submitterTemplate(pods, settings) };
}

function workerGroup(group: WorkerGroupSpec, pods: RolePodBuilder, settings: RaySettings): JsonObject {
  const { groupName, replicas, minReplicas, maxReplicas, rayStartParams, k8sPod } = group;
  return {
    groupName,
    replicas,
    minReplicas: Math.min(minReplicas, replicas),
    maxReplicas: Math.max(maxReplicas, replicas),
    rayStartParams: workerStartParameters(rayStartParams, settings),
    template: workerTemplate(pods, k8sPod, settings),
  };
}

const UPSCALING_MODES: Readonly<Record<UpscalingMode, string>> = {
  [UpscalingMode.UNSPECIFIED]: "",
  [UpscalingMode.DEFAULT]: "Default",
  [UpscalingMode.AGGRESSIVE]: "Aggressive",
  [UpscalingMode.CONSERVATIVE]: "Conservative",
};

function autoscaler(options: AutoscalerOptions | undefined, { gpuResourceName }: RolePodBuilder): JsonObject {
  if (options === undefined) return {};
  const { upscalingMode, idleTimeoutSeconds, env, image, resources } = options;
  const mode = UPSCALING_MODES[upscalingMode] ?? "";
  const own = containerResources(resources, gpuResourceName);
  return {
    autoscalerOptions: {
      ...(mode === "" ? {} : { upscalingMode: mode }),
      ...(idleTimeoutSeconds === 0 ? {} : { idleTimeoutSeconds }),
      ...(env.length === 0 ? {} : { env: env.map(({ key, value }) => ({ name: key, value })) }),
      ...(image === "" ? {} : { image }),
      ...(Object.keys(own).length === 0 ? {} : { resources: { ...own } as JsonObject }),
    },
  };
}
