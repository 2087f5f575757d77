import { messageFactory } from "@flyte-ts/proto-codec";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

const emptyRequest = messageFactory(TaskRequestSchema);
const emptyTemplate = messageFactory(TaskTemplateSchema);

/**
 * The part of a request that events are built from, which a plugin has to keep to report an attempt
 * later.
 */
export function eventFields(request: TaskRequest): TaskRequest {
  const { id, generatedName, workflowKey, nodePath, namespace, inputUri, outputPrefix, interruptible, shard, pluginState, partOfArray } =
    request;
  return {
    ...emptyRequest(),
    id,
    generatedName,
    workflowKey,
    nodePath,
    namespace,
    inputUri,
    outputPrefix,
    interruptible,
    shard,
    pluginState,
    partOfArray,
    template: { ...emptyTemplate(), type: request.template?.type ?? "" },
  };
}
