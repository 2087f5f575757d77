import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type ContainerSchema, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { TARGET } from "./shell-tasks.js";

/** A map task over the integers from 0, without outputs. */
export interface MapTask {
  readonly name: string;
  /** Number of items. */
  readonly size: number;
  /** Container of an item, whose input is `a`; without one items are tasks of type `echo`. */
  readonly container?: MessageInitShape<typeof ContainerSchema> | undefined;
}

/** Registers a workflow with one map task, the node `n0`. Resolves to its launch plan. */
export async function registerMapTask(client: FlyteClient, { name, size, container }: MapTask): Promise<Identifier> {
  const id = (resourceType: ResourceType, of: string) => create(IdentifierSchema, { ...TARGET, resourceType, name: of });
  const [taskId, workflowId, launchPlanId] = [
    id(ResourceType.TASK, `${name}.one`),
    id(ResourceType.WORKFLOW, name),
    id(ResourceType.LAUNCH_PLAN, name),
  ];
  const integer = { type: { case: "simple" as const, value: SimpleType.INTEGER } };
  const inputs = { variables: { a: { type: { type: { case: "collectionType" as const, value: integer } } } } };
  const task = create(TaskTemplateSchema, {
    id: taskId,
    type: container === undefined ? "echo" : "container",
    metadata: { runtime: { type: 1, version: "1", flavor: "test" }, retries: { retries: 0 } },
    interface: { inputs, outputs: {} },
    ...(container && { target: { case: "container", value: container } }),
  });
  await client.admin.createTask({ id: taskId, spec: { template: task } });
  const one = (value: number) => ({
    value: {
      case: "scalar" as const,
      value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value: BigInt(value) } } } },
    },
  });
  const bindings = Array.from({ length: size }, (_, index) => ({ value: one(index).value }));
  const template = create(WorkflowTemplateSchema, {
    id: workflowId,
    metadata: {},
    metadataDefaults: {},
    interface: {},
    nodes: [
      {
        id: "n0",
        metadata: { name: "map" },
        inputs: [{ var: "a", binding: { value: { case: "collection" as const, value: { bindings } } } }],
        target: {
          case: "arrayNode" as const,
          value: {
            node: {
              id: "n0",
              metadata: { name: "one" },
              target: { case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: taskId } } },
            },
          },
        },
      },
    ],
  });
  await client.admin.createWorkflow({ id: workflowId, spec: { template } });
  await client.admin.createLaunchPlan({ id: launchPlanId, spec: { workflowId, entityMetadata: {} } });
  return launchPlanId;
}
