import { messageFactory } from "@flyte-ts/proto-codec";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

const emptyRequest = messageFactory(TaskRequestSchema);
const emptyTemplate = messageFactory(TaskTemplateSchema);

/**
 * The part of a request that a plugin has to keep to report an attempt later: events are built from
 * it, and its owner tells the attempt from one of another execution with the same name.
 */
export function eventFields(request: TaskRequest): TaskRequest {
  const { id, generatedName, workflowKey, nodePath, namespace, owner, inputUri, outputPrefix } = request;
  const { interruptible, shard, pluginState, partOfArray } = request;
  return {
    ...emptyRequest(),
    id,
    generatedName,
    workflowKey,
    nodePath,
    namespace,
    owner,
    inputUri,
    outputPrefix,
    interruptible,
    shard,
    pluginState,
    partOfArray,
    template: { ...emptyTemplate(), type: request.template?.type ?? "" },
  };
}
