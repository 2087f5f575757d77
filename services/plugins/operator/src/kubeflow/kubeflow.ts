import type { JsonObject } from "@bufbuild/protobuf";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Pod } from "@flyte-ts/pod-task";
import type { RolePodBuilder } from "../build/role-pod-builder.js";
import type { Operator } from "../operator.js";
import { buildMpiJob } from "./mpi.js";
import { buildPyTorchJob } from "./pytorch.js";
import { kubeflowStatus } from "./status.js";
import { buildTensorflowJob } from "./tensorflow.js";

const LABEL = "training.kubeflow.org";
const GROUP = "kubeflow.org";
const VERSION = "v1";

interface Kind {
  readonly taskType: string;
  readonly kind: string;
  readonly plural: string;
  readonly buildSpec: (request: TaskRequest, pods: RolePodBuilder) => JsonObject;
}

/** The kinds of the training operator (version 1 of its API). */
export const kubeflowOperators: readonly Operator[] = [
  kubeflowOperator({ taskType: "pytorch", kind: "PyTorchJob", plural: "pytorchjobs", buildSpec: buildPyTorchJob }),
  kubeflowOperator({ taskType: "tensorflow", kind: "TFJob", plural: "tfjobs", buildSpec: buildTensorflowJob }),
  kubeflowOperator({ taskType: "mpi", kind: "MPIJob", plural: "mpijobs", buildSpec: buildMpiJob }),
];

function kubeflowOperator({ taskType, kind, plural, buildSpec }: Kind): Operator {
  return {
    taskType,
    apiVersion: `${GROUP}/${VERSION}`,
    kind,
    ref: { group: GROUP, version: VERSION, plural, namespaced: true },
    maxNameLength: 63,
    workersWriteErrors: true,
    build: (request, pods) => ({ spec: buildSpec(request, pods) }),
    status: kubeflowStatus,
    leftover: () => ({ outlivesSuccess: false, owns: () => true }),
    details: ({ status }) => (status === undefined ? {} : { customInfo: withoutReconcileTime(status) }),
    roleOf,
    decides: () => true,
  };
}

/** Drops the time: it changes without any other change, and each change would publish an event. */
function withoutReconcileTime(status: JsonObject): JsonObject {
  const { lastReconcileTime: _, ...rest } = status;
  return rest;
}

/**
 * Returns the role of a pod, such as `Worker 1`. Master and launcher have no number, since a job
 * has one of each.
 */
function roleOf({ metadata: { labels = {} } }: Pod): string {
  const type = labels[`${LABEL}/replica-type`] ?? "";
  const index = labels[`${LABEL}/replica-index`] ?? "";
  const name = type === "ps" ? "PS" : `${type.slice(0, 1).toUpperCase()}${type.slice(1)}`;
  return type === "master" || type === "launcher" ? name : `${name} ${index}`.trim();
}
