import type { JsonObject } from "@bufbuild/protobuf";
import type { Resources } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { RestartPolicy } from "@flyte-ts/idl/flyteidl/plugins/common_pb";
import type { EnvVar } from "@flyte-ts/pod-task";
import { withArgs, withPrimary } from "../build/containers.js";
import type { RolePodBuilder } from "../build/role-pod-builder.js";
import { podTemplate } from "../build/template.js";

/** Fields of a replica that all kinds have. */
export interface ReplicaFields {
  readonly replicas: number;
  readonly image: string;
  readonly resources?: Resources | undefined;
  readonly restartPolicy: RestartPolicy;
}

/** A replica group in a task; `common` counts instead of the fields beside it, which are older. */
export interface ReplicaMessage extends ReplicaFields {
  readonly common?: ReplicaFields | undefined;
}

export interface ReplicaOptions extends Partial<ReplicaFields> {
  /** Name of the container that the operators require. */
  readonly containerName: string;
  /** Replaces the arguments of the task. */
  readonly args?: readonly string[] | undefined;
}

const RESTART_POLICIES: Readonly<Record<RestartPolicy, string>> = {
  [RestartPolicy.NEVER]: "Never",
  [RestartPolicy.ON_FAILURE]: "OnFailure",
  [RestartPolicy.ALWAYS]: "Always",
};

/** Variables that make flytekit write an error document for each worker. */
const ERROR_PER_WORKER: readonly EnvVar[] = [
  { name: "_F_WN", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
  { name: "_F_DES", value: "Earliest" },
];

/**
 * Returns the fields of `common` if the task sets it, else the older ones; zeros for a group that
 * the task does not mention.
 */
export function replicaFields(message: ReplicaMessage | undefined): ReplicaFields {
  const { replicas, image, resources, restartPolicy } = message?.common ?? message ?? NO_REPLICAS;
  return { replicas, image, resources, restartPolicy };
}

const NO_REPLICAS: ReplicaFields = { replicas: 0, image: "", restartPolicy: RestartPolicy.NEVER };

/** Builds a replica group of a job. */
export function buildReplica(pods: RolePodBuilder, options: ReplicaOptions): JsonObject {
  const { replicas = 1, image, resources, restartPolicy = RestartPolicy.NEVER, containerName, args = [] } = options;
  const pod = pods.build({ image, resources, containerName });
  const spec = withPrimary(pod.spec, containerName, (container) => ({
    ...(args.length === 0 ? container : withArgs(container, args)),
    env: [...(container.env ?? []), ...ERROR_PER_WORKER],
  }));
  return {
    replicas,
    template: podTemplate({ ...pod, spec }),
    restartPolicy: RESTART_POLICIES[restartPolicy] ?? "Never",
  };
}
