import { create } from "@bufbuild/protobuf";
import { DurationSchema } from "@bufbuild/protobuf/wkt";
import type { FlyteClient } from "@flyte-ts/client";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { TARGET } from "./shell-tasks.js";

/** A node and its upstream nodes. */
export interface SleepNode {
  readonly id: string;
  readonly after: readonly string[];
}

/**
 * Registers a workflow of `length` core-sleep nodes in sequence; its input `duration` is the sleep
 * of each. Resolves to its launch plan.
 */
export function registerSleepChain(client: FlyteClient, length: number): Promise<Identifier> {
  const nodes = Array.from({ length }, (_, index) => ({ id: `n${index}`, after: index === 0 ? [] : [`n${index - 1}`] }));
  return registerSleepGraph(client, `sleep-chain-${length}`, nodes);
}

/** Registers one node, then `width` parallel nodes, then one that depends on them all. */
export function registerSleepFan(client: FlyteClient, width: number): Promise<Identifier> {
  const leaves = Array.from({ length: width }, (_, index) => ({ id: `n${index + 1}`, after: ["n0"] }));
  const last = { id: `n${width + 1}`, after: leaves.map(({ id }) => id) };
  return registerSleepGraph(client, `sleep-fan-${width}`, [{ id: "n0", after: [] }, ...leaves, last]);
}

/** Inputs of an execution of a sleep workflow. */
export function sleepInputs(sleepMs: number): LiteralMap {
  const value = create(DurationSchema, { seconds: BigInt(Math.floor(sleepMs / 1_000)), nanos: (sleepMs % 1_000) * 1_000_000 });
  const duration = {
    value: {
      case: "scalar" as const,
      value: { value: { case: "primitive" as const, value: { value: { case: "duration" as const, value } } } },
    },
  };
  return create(LiteralMapSchema, { literals: { duration } });
}

async function registerSleepGraph(client: FlyteClient, name: string, nodes: readonly SleepNode[]): Promise<Identifier> {
  const id = (resourceType: ResourceType, of: string) => create(IdentifierSchema, { ...TARGET, resourceType, name: of });
  const inputs = { variables: { duration: { type: { type: { case: "simple" as const, value: SimpleType.DURATION } } } } };
  const taskId = id(ResourceType.TASK, `${name}.sleep`);
  const task = create(TaskTemplateSchema, {
    id: taskId,
    type: "core-sleep",
    metadata: { runtime: { type: 1, version: "1", flavor: "test" }, retries: { retries: 0 } },
    interface: { inputs, outputs: {} },
  });
  await client.admin.createTask({ id: taskId, spec: { template: task } });
  const workflowId = id(ResourceType.WORKFLOW, name);
  const template = create(WorkflowTemplateSchema, {
    id: workflowId,
    metadata: {},
    metadataDefaults: {},
    interface: { inputs, outputs: {} },
    nodes: nodes.map((node) => ({
      id: node.id,
      metadata: { name: node.id },
      inputs: [{ var: "duration", binding: { value: { case: "promise" as const, value: { nodeId: "", var: "duration" } } } }],
      upstreamNodeIds: [...node.after],
      target: { case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: taskId } } },
    })),
  });
  await client.admin.createWorkflow({ id: workflowId, spec: { template } });
  const launchPlanId = id(ResourceType.LAUNCH_PLAN, workflowId.name);
  await client.admin.createLaunchPlan({ id: launchPlanId, spec: { workflowId, entityMetadata: {} } });
  return launchPlanId;
}
