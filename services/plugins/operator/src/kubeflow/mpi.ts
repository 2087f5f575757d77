import type { JsonObject } from "@bufbuild/protobuf";
import { DistributedMPITrainingTaskSchema as TaskV1 } from "@flyte-ts/idl/flyteidl/plugins/kubeflow/mpi_pb";
import { DistributedMPITrainingTaskSchema as TaskV0 } from "@flyte-ts/idl/flyteidl/plugins/mpi_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { InvalidPodSpecError } from "@flyte-ts/pod-task";
import { decodeCustom } from "../build/custom.js";
import type { RolePodBuilder } from "../build/role-pod-builder.js";
import { buildReplica, type ReplicaFields, replicaFields } from "./replica.js";
import { buildRunPolicy } from "./run-policy.js";
import { taskVersion } from "./task-version.js";

const CONTAINER = "mpi";
/** Key of the task's config with the command of the workers, in version 0. */
const WORKER_COMMAND_KEY = "worker_spec_command";

type Replica = Partial<ReplicaFields> & { readonly replicas: number; readonly args: readonly string[] };

interface MpiTask {
  readonly launcher: Replica;
  readonly worker: Replica;
  /** Processes for each worker. */
  readonly slots: number;
  readonly runPolicy: JsonObject;
}

/**
 * Builds the spec of an MPIJob.
 *
 * @throws InvalidPodSpecError for a job without launcher or workers
 */
export function buildMpiJob(request: TaskRequest, pods: RolePodBuilder): JsonObject {
  const { launcher, worker, slots, runPolicy } = readTask(request);
  if (worker.replicas <= 0) throw new InvalidPodSpecError("number of workers must be greater than 0");
  if (launcher.replicas <= 0) throw new InvalidPodSpecError("number of launchers must be greater than 0");
  return {
    slotsPerWorker: slots > 0 ? slots : 1,
    mpiReplicaSpecs: {
      Launcher: buildReplica(pods, { ...launcher, containerName: CONTAINER }),
      Worker: buildReplica(pods, { ...worker, containerName: CONTAINER }),
    },
    runPolicy,
  };
}

function readTask(request: TaskRequest): MpiTask {
  if (taskVersion(request) === 0) {
    const { numWorkers, numLauncherReplicas, slots } = decodeCustom(TaskV0, request);
    const command = request.template?.config[WORKER_COMMAND_KEY] ?? "";
    return {
      launcher: { replicas: numLauncherReplicas, args: [] },
      worker: { replicas: numWorkers, args: command.split(" ").filter((arg) => arg !== "") },
      slots,
      runPolicy: {},
    };
  }
  const { workerReplicas, launcherReplicas, slots, runPolicy } = decodeCustom(TaskV1, request);
  return {
    launcher: { ...replicaFields(launcherReplicas), args: launcherReplicas?.command ?? [] },
    worker: { ...replicaFields(workerReplicas), args: workerReplicas?.command ?? [] },
    slots,
    runPolicy: buildRunPolicy(runPolicy),
  };
}
