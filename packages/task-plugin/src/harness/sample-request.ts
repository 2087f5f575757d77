import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/**
 * A complete RUN request for attempt 0 of node `n0` of an execution, as propeller builds it; `over`
 * replaces fields.
 */
export function sampleRequest(taskType: string, over: Partial<TaskRequest> = {}): TaskRequest {
  const execution = "a1b2c3d4e5f6g7h8i9j0";
  const data = `s3://bucket/metadata/propeller/p-development-${execution}/n0/data`;
  const executionId = { project: "p", domain: "development", name: execution };
  const taskId = { resourceType: ResourceType.TASK, project: "p", domain: "development", name: "tasks.work", version: "v1" };
  const request = create(TaskRequestSchema, {
    id: { taskId, nodeExecutionId: { nodeId: "n0", executionId }, retryAttempt: 0 },
    desired: DesiredState.RUN,
    generatedName: `${execution}-n0-0`,
    workflowKey: `p-development/${execution}`,
    nodePath: "n0",
    namespace: "p-development",
    owner: { apiVersion: "flyte.lyft.com/v1alpha1", kind: "flyteworkflow", name: execution, uid: "00000000-0000-4000-8000-000000000001" },
    template: { id: taskId, type: taskType },
    workflowId: { resourceType: ResourceType.WORKFLOW, project: "p", domain: "development", name: "flows.main", version: "v1" },
    inputs: {},
    inputUri: `${data}/inputs.pb`,
    outputPrefix: `${data}/0`,
    rawOutputPrefix: `s3://bucket/data/ab/${execution}-n0-0`,
    labels: { "execution-id": execution, project: "p", domain: "development", "workflow-name": "flows-main", "shard-key": "7" },
    shard: 7,
    requestedAt: timestampFromDate(new Date("2026-01-02T03:04:05Z")),
  });
  return Object.assign(request, over);
}
