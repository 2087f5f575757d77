import { create } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { TARGET } from "./shell-tasks.js";

/** Registers a workflow of `length` core-sleep nodes, one after the other; its input `duration` is how long each sleeps. Resolves to its launch plan. */
export async function registerSleepChain(client: FlyteClient, length: number): Promise<Identifier> {
  const id = (resourceType: ResourceType, of: string) => create(IdentifierSchema, { ...TARGET, resourceType, name: of });
  const inputs = { variables: { duration: { type: { type: { case: "simple" as const, value: SimpleType.DURATION } } } } };
  const taskId = id(ResourceType.TASK, "sleep");
  const task = create(TaskTemplateSchema, {
    id: taskId,
    type: "core-sleep",
    metadata: { runtime: { type: 1, version: "1", flavor: "test" }, retries: { retries: 0 } },
    interface: { inputs, outputs: {} },
  });
  await client.admin.createTask({ id: taskId, spec: { template: task } });
  const workflowId = id(ResourceType.WORKFLOW, `sleep-chain-${length}`);
  const template = create(WorkflowTemplateSchema, {
    id: workflowId,
    metadata: {},
    metadataDefaults: {},
    interface: { inputs, outputs: {} },
    nodes: Array.from({ length }, (_, index) => ({
      id: `n${index}`,
      metadata: { name: `n${index}` },
      inputs: [{ var: "duration", binding: { value: { case: "promise" as const, value: { nodeId: "", var: "duration" } } } }],
      upstreamNodeIds: index === 0 ? [] : [`n${index - 1}`],
      target: { case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: taskId } } },
    })),
  });
  await client.admin.createWorkflow({ id: workflowId, spec: { template } });
  const launchPlanId = id(ResourceType.LAUNCH_PLAN, workflowId.name);
  await client.admin.createLaunchPlan({ id: launchPlanId, spec: { workflowId, entityMetadata: {} } });
  return launchPlanId;
}
