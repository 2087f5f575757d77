import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { shardOf } from "@flyte-ts/domain/name";
import { isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/**
 * Reply to an event of an attempt whose workflow has ended or is gone: ABORT while the attempt
 * still runs, none when it has ended. A restarted plugin service may start an ended attempt again
 * on a duplicate request. The request only names the attempt, which suffices to remove it.
 */
export function zombieAbortRequest(event: TaskEvent, now: number): TaskRequest | undefined {
  const taskEvent = event.event;
  if (taskEvent === undefined || isTerminalTaskEvent(taskEvent.phase)) return undefined;
  const [namespace = "", name = ""] = event.workflowKey.split("/");
  return create(TaskRequestSchema, {
    id: { taskId: taskEvent.taskId, nodeExecutionId: taskEvent.parentNodeExecutionId, retryAttempt: taskEvent.retryAttempt },
    desired: DesiredState.ABORT,
    generatedName: taskEvent.metadata?.generatedName ?? "",
    workflowKey: event.workflowKey,
    nodePath: event.nodePath,
    namespace,
    template: { id: taskEvent.taskId, type: taskEvent.taskType },
    deleteResources: true,
    pluginState: event.pluginState,
    knownPhase: taskEvent.phase,
    knownPhaseVersion: taskEvent.phaseVersion,
    shard: shardOf(name),
    requestedAt: timestampFromMs(now),
    abortReason: "the execution has ended",
  });
}
