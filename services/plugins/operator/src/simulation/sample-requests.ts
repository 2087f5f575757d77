import { create, type JsonObject } from "@bufbuild/protobuf";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";

/** `custom` of a small task of each type, as flytekit serialises it: numbers are doubles. */
export const SAMPLE_CUSTOMS: Readonly<Record<string, JsonObject>> = {
  pytorch: { workerReplicas: { common: { replicas: 2.0 } }, masterReplicas: { common: { replicas: 1.0 } } },
  tensorflow: { workerReplicas: { common: { replicas: 2.0 } }, chiefReplicas: { common: { replicas: 1.0 } } },
  mpi: { workerReplicas: { common: { replicas: 2.0 } }, launcherReplicas: { common: { replicas: 1.0 } }, slots: 2.0 },
  ray: { rayCluster: { workerGroupSpec: [{ groupName: "small", replicas: 2.0, minReplicas: 2.0, maxReplicas: 2.0 }] } },
  dask: { scheduler: {}, workers: { numberOfWorkers: 2.0 } },
  spark: { mainApplicationFile: "local:///opt/entrypoint.py", executorPath: "/usr/bin/python3", sparkConf: {} },
};

/** A RUN request of the type for a container task with one output. */
export function jobRequest(taskType: string, custom = SAMPLE_CUSTOMS[taskType] ?? {}, over: Partial<TaskRequest> = {}): TaskRequest {
  const request = sampleRequest(taskType, over);
  request.template = create(TaskTemplateSchema, {
    id: { name: "tasks.work" },
    type: taskType,
    taskTypeVersion: ["pytorch", "tensorflow", "mpi"].includes(taskType) ? 1 : 0,
    interface: create(TypedInterfaceSchema, { outputs: { variables: { o0: {} } } }),
    target: { case: "container", value: { image: "example/image:1", args: ["pyflyte-execute", "--inputs", "{{.input}}"] } },
    custom,
  });
  request.inputs = create(LiteralMapSchema, { literals: { a: { hash: "in" } } });
  return request;
}
