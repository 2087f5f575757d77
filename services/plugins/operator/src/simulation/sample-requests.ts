import { create } from "@bufbuild/protobuf";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { SAMPLES } from "./samples.js";

/** A RUN request of the type for a container task with one output. */
export function jobRequest(taskType: string, custom = SAMPLES[taskType]?.custom ?? {}, over: Partial<TaskRequest> = {}): TaskRequest {
  const request = sampleRequest(taskType, over);
  request.template = create(TaskTemplateSchema, {
    id: { name: "tasks.work" },
    type: taskType,
    taskTypeVersion: SAMPLES[taskType]?.version ?? 0,
    interface: create(TypedInterfaceSchema, { outputs: { variables: { o0: {} } } }),
    target: { case: "container", value: { image: "example/image:1", args: ["pyflyte-execute", "--inputs", "{{.input}}"] } },
    custom,
  });
  request.inputs = create(LiteralMapSchema, { literals: { a: { hash: "in" } } });
  return request;
}
