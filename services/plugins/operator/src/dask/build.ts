import type { JsonObject } from "@bufbuild/protobuf";
import { DaskJobSchema } from "@flyte-ts/idl/flyteidl/plugins/dask_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Container } from "@flyte-ts/pod-task";
import { withArgs, withPrimary } from "../build/containers.js";
import { decodeCustom } from "../build/custom.js";
import { wholeCpus } from "../build/quantities.js";
import type { RolePod, RolePodBuilder } from "../build/role-pod-builder.js";
import { toJson } from "../build/template.js";
import type { JobContent } from "../operator.js";
import type { DaskSettings } from "./settings.js";

const SCHEDULER_PORTS = [
  { name: "tcp-comm", containerPort: 8786, protocol: "TCP" },
  { name: "http-dashboard", containerPort: 8787, protocol: "TCP" },
];

/**
 * Builds a DaskJob: the task's process, and a cluster for it. The operator copies labels and
 * annotations of the resource to the pods. Only workers run on interruptible nodes.
 */
export function buildDaskJob(request: TaskRequest, pods: RolePodBuilder, settings: DaskSettings): JobContent {
  const { scheduler, workers } = decodeCustom(DaskJobSchema, request);
  const runner = pods.build({ interruptible: false, containerName: "job-runner" });
  const schedulerPod = pods.build({ ...scheduler, interruptible: false, containerName: "scheduler" });
  const workerPod = pods.build({ ...workers, containerName: "dask-worker" });
  const { labels, annotations } = runner;
  return {
    labels,
    annotations,
    spec: {
      job: { spec: podSpec(runner, "Never", (container) => container) },
      cluster: {
        spec: {
          scheduler: {
            spec: podSpec(schedulerPod, "Always", (container) => ({
              ...withArgs(container, settings.schedulerCommand),
              ports: SCHEDULER_PORTS,
            })),
            service: schedulerService(pods.jobName),
          },
          worker: {
            replicas: workers?.numberOfWorkers ?? 0,
            spec: podSpec(workerPod, "Always", (container) =>
              withArgs(container, [...settings.workerCommand, "--name", "$(DASK_WORKER_NAME)", ...limitArgs(container)]),
            ),
          },
        },
      },
    },
  };
}

function podSpec({ spec, primaryContainer }: RolePod, restartPolicy: string, change: (container: Container) => Container): JsonObject {
  return toJson({ ...withPrimary(spec, primaryContainer, change), restartPolicy });
}

/** Returns both options when either limit is set; 0 means no limit. */
function limitArgs({ resources }: Container): string[] {
  const { cpu, memory } = resources?.limits ?? {};
  if (cpu === undefined && memory === undefined) return [];
  return ["--nthreads", String(cpu === undefined ? 0 : wholeCpus(cpu)), "--memory-limit", memory ?? "0"];
}

function schedulerService(cluster: string): JsonObject {
  return {
    type: "NodePort",
    selector: { "dask.org/cluster-name": cluster, "dask.org/component": "scheduler" },
    ports: [
      { name: "tcp-comm", protocol: "TCP", port: 8786, targetPort: "tcp-comm" },
      { name: "http-dashboard", protocol: "TCP", port: 8787, targetPort: "http-dashboard" },
    ],
  };
}
