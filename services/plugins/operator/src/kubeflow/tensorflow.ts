import type { JsonObject } from "@bufbuild/protobuf";
import { DistributedTensorflowTrainingTaskSchema as TaskV1 } from "@flyte-ts/idl/flyteidl/plugins/kubeflow/tensorflow_pb";
import { DistributedTensorflowTrainingTaskSchema as TaskV0 } from "@flyte-ts/idl/flyteidl/plugins/tensorflow_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { InvalidPodSpecError } from "@flyte-ts/pod-task";
import { decodeCustom } from "../build/custom.js";
import type { RolePodBuilder } from "../build/role-pod-builder.js";
import { buildReplica, type ReplicaFields, replicaFields } from "./replica.js";
import { buildRunPolicy } from "./run-policy.js";
import { taskVersion } from "./task-version.js";

const CONTAINER = "tensorflow";

type Replica = Partial<ReplicaFields> & { readonly replicas: number };
type ReplicaType = "Chief" | "Worker" | "PS" | "Evaluator";

interface TensorflowTask {
  readonly replicas: Readonly<Record<ReplicaType, Replica>>;
  readonly runPolicy: JsonObject;
}

/**
 * Builds the spec of a TFJob from the replica groups that are not empty.
 *
 * @throws InvalidPodSpecError for a job without workers
 */
export function buildTensorflowJob(request: TaskRequest, pods: RolePodBuilder): JsonObject {
  const { replicas, runPolicy } = readTask(request);
  if (replicas.Worker.replicas <= 0) throw new InvalidPodSpecError("number of workers must be greater than 0");
  const groups = Object.entries(replicas).filter(([, group]) => group.replicas > 0);
  return {
    tfReplicaSpecs: Object.fromEntries(groups.map(([type, group]) => [type, buildReplica(pods, { ...group, containerName: CONTAINER })])),
    runPolicy,
  };
}

function readTask(request: TaskRequest): TensorflowTask {
  if (taskVersion(request) === 0) {
    const { workers, psReplicas, chiefReplicas, evaluatorReplicas } = decodeCustom(TaskV0, request);
    return {
      replicas: {
        Chief: { replicas: chiefReplicas },
        Worker: { replicas: workers },
        PS: { replicas: psReplicas },
        Evaluator: { replicas: evaluatorReplicas },
      },
      runPolicy: {},
    };
  }
  const { workerReplicas, psReplicas, chiefReplicas, evaluatorReplicas, runPolicy } = decodeCustom(TaskV1, request);
  return {
    replicas: {
      Chief: replicaFields(chiefReplicas),
      Worker: replicaFields(workerReplicas),
      PS: replicaFields(psReplicas),
      Evaluator: replicaFields(evaluatorReplicas),
    },
    runPolicy: buildRunPolicy(runPolicy),
  };
}
