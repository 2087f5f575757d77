import type { JsonObject } from "@bufbuild/protobuf";
import { DistributedPyTorchTrainingTaskSchema as TaskV1 } from "@flyte-ts/idl/flyteidl/plugins/kubeflow/pytorch_pb";
import { DistributedPyTorchTrainingTaskSchema as TaskV0 } from "@flyte-ts/idl/flyteidl/plugins/pytorch_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { InvalidPodSpecError } from "@flyte-ts/pod-task";
import { decodeCustom } from "../build/custom.js";
import type { RolePodBuilder } from "../build/role-pod-builder.js";
import { buildReplica, type ReplicaFields, replicaFields } from "./replica.js";
import { buildRunPolicy } from "./run-policy.js";
import { taskVersion } from "./task-version.js";

const CONTAINER = "pytorch";

/** Equal in both versions of the task. */
interface ElasticConfig {
  readonly rdzvBackend: string;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly nprocPerNode: number;
  readonly maxRestarts: number;
}

interface PyTorchTask {
  readonly worker: Partial<ReplicaFields> & { readonly replicas: number };
  readonly master: Partial<ReplicaFields>;
  readonly elastic: ElasticConfig | undefined;
  readonly runPolicy: JsonObject;
}

/**
 * Builds the spec of a PyTorchJob: one master and the workers, or the workers of an elastic job.
 *
 * @throws InvalidPodSpecError for an elastic job without workers
 */
export function buildPyTorchJob(request: TaskRequest, pods: RolePodBuilder): JsonObject {
  const { worker, master, elastic, runPolicy } = readTask(request);
  const workers = () => buildReplica(pods, { ...worker, containerName: CONTAINER });
  if (elastic !== undefined) {
    if (worker.replicas <= 0) throw new InvalidPodSpecError("number of workers must be greater than 0");
    return { elasticPolicy: elasticPolicy(elastic), pytorchReplicaSpecs: { Worker: workers() }, runPolicy };
  }
  return {
    pytorchReplicaSpecs: {
      Master: buildReplica(pods, { ...master, replicas: 1, containerName: CONTAINER }),
      ...(worker.replicas > 0 ? { Worker: workers() } : {}),
    },
    runPolicy,
  };
}

function readTask(request: TaskRequest): PyTorchTask {
  if (taskVersion(request) === 0) {
    const { workers, elasticConfig } = decodeCustom(TaskV0, request);
    return { worker: { replicas: workers }, master: {}, elastic: elasticConfig, runPolicy: {} };
  }
  const { workerReplicas, masterReplicas, elasticConfig, runPolicy } = decodeCustom(TaskV1, request);
  return {
    worker: replicaFields(workerReplicas),
    master: replicaFields(masterReplicas),
    elastic: elasticConfig,
    runPolicy: buildRunPolicy(runPolicy),
  };
}

function elasticPolicy({ rdzvBackend, minReplicas, maxReplicas, nprocPerNode, maxRestarts }: ElasticConfig): JsonObject {
  return { ...(rdzvBackend === "" ? {} : { rdzvBackend }), minReplicas, maxReplicas, nProcPerNode: nprocPerNode, maxRestarts };
}
