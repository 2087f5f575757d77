import { create } from "@bufbuild/protobuf";
import { ResourceType, TaskExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { checkExecutionId, checkNodeId, checkTaskId } from "../../executions/index.js";
import { checkIdentifier, invalidArgument, missingArgument } from "../../platform/index.js";
import { type EventRecorderDeps, recordNodeEvent, recordTaskEvent, recordWorkflowEvent } from "./record-event.js";
import { checkOutputSize } from "./validate-event.js";

type Methods = Pick<ServiceImplementation<typeof AdminService>, "createWorkflowEvent" | "createNodeEvent" | "createTaskEvent">;

/** RPCs for events of engines that do not use the bus. */
export function eventRpcs(deps: EventRecorderDeps): Methods {
  const maxBytes = deps.config.remoteData.maxSizeInBytes;
  return {
    createWorkflowEvent: async ({ event }) => {
      if (event === undefined) throw invalidArgument("Workflow event handler was called without event");
      if (event.executionId === undefined) throw invalidArgument("Workflow event handler request event doesn't have an execution id");
      checkExecutionId(event.executionId, "execution_id");
      checkOutputSize(event.outputResult.case === "outputData" ? event.outputResult.value : undefined, maxBytes);
      await recordWorkflowEvent(deps, event.executionId, event);
      return {};
    },
    createNodeEvent: async ({ event }) => {
      if (event === undefined) throw missingArgument("event");
      checkNodeId(event.id);
      await recordNodeEvent(deps, event.id, event);
      return {};
    },
    createTaskEvent: async ({ event }) => {
      if (event === undefined) throw missingArgument("event");
      if (event.occurredAt === undefined) throw missingArgument("occurred_at");
      checkOutputSize(event.outputResult.case === "outputData" ? event.outputResult.value : undefined, maxBytes);
      const { taskId, parentNodeExecutionId: nodeExecutionId, retryAttempt } = event;
      const id = create(TaskExecutionIdentifierSchema, {
        retryAttempt,
        ...(taskId && { taskId }),
        ...(nodeExecutionId && { nodeExecutionId }),
      });
      checkTaskId(id);
      checkIdentifier(id.taskId, ResourceType.TASK);
      await recordTaskEvent(deps, id, event);
      return {};
    },
  };
}
