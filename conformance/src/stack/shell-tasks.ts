import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type ContainerSchema, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { WorkflowMetadata_OnFailurePolicy, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

export const TARGET = { project: "flytesnacks", domain: "development", version: "1" };

/** A node of a test workflow: a shell script, and the upstream nodes. */
export interface ShellNode {
  readonly id: string;
  readonly script: string;
  readonly after: readonly string[];
  readonly retries?: number;
  /** Task type. Default: `container`. */
  readonly type?: string;
  /** Image, resources and other fields of the container. */
  readonly container?: MessageInitShape<typeof ContainerSchema>;
  /** Pod in Kubernetes JSON instead of the container; it contains its own script and containers. */
  readonly pod?: { readonly primary: string; readonly spec: JsonObject };
}

/**
 * Registers a workflow whose nodes are pods that run shell scripts. Resolves to its launch plan.
 *
 * @param onFailure policy of the workflow for a node that fails
 */
export async function registerShellWorkflow(
  client: FlyteClient,
  name: string,
  nodes: readonly ShellNode[],
  onFailure = WorkflowMetadata_OnFailurePolicy.FAIL_IMMEDIATELY,
) {
  const id = (resourceType: ResourceType, of: string) => create(IdentifierSchema, { ...TARGET, resourceType, name: of });
  const workflowId = id(ResourceType.WORKFLOW, name);
  const launchPlanId = id(ResourceType.LAUNCH_PLAN, name);
  for (const node of nodes) {
    const taskId = id(ResourceType.TASK, `${name}.${node.id}`);
    const template = create(TaskTemplateSchema, {
      id: taskId,
      type: node.type ?? "container",
      metadata: { runtime: { type: 1, version: "1", flavor: "shell" }, retries: { retries: node.retries ?? 0 } },
      interface: { inputs: {}, outputs: {} },
      ...(node.pod === undefined ? {} : { config: { primary_container_name: node.pod.primary } }),
      target:
        node.pod === undefined
          ? { case: "container", value: { image: "shell:1", command: ["sh", "-c"], args: [node.script], ...node.container } }
          : { case: "k8sPod", value: { podSpec: node.pod.spec } },
    });
    await client.admin.createTask({ id: taskId, spec: { template } });
  }
  const template = create(WorkflowTemplateSchema, {
    id: workflowId,
    metadata: { onFailure },
    metadataDefaults: {},
    interface: { inputs: {}, outputs: {} },
    nodes: nodes.map((node) => ({
      id: node.id,
      metadata: { name: node.id },
      upstreamNodeIds: [...node.after],
      target: {
        case: "taskNode" as const,
        value: { reference: { case: "referenceId" as const, value: id(ResourceType.TASK, `${name}.${node.id}`) } },
      },
    })),
  });
  await client.admin.createWorkflow({ id: workflowId, spec: { template } });
  await client.admin.createLaunchPlan({ id: launchPlanId, spec: { workflowId, entityMetadata: {} } });
  return launchPlanId;
}
