import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type NodeSchema, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { registerShellWorkflow, TARGET } from "../stack/shell-tasks.js";

/** Signal that the gate of the workflow waits for. */
export const SIGNAL = "go-on";

const id = (resourceType: ResourceType, name: string) => create(IdentifierSchema, { ...TARGET, resourceType, name });

/**
 * Starts an execution whose graph has each kind of step that a journey takes: a task, a workflow
 * within, a gate, and a node that has to wait for all.
 */
export async function startGraphExecution(client: FlyteClient, name: string): Promise<void> {
  const tasks = `journeys.${name}.tasks`;
  await registerShellWorkflow(client, tasks, [{ id: "work", script: "exit 0", after: [] }]);
  const task = (nodeId: string, label: string, after: readonly string[]): MessageInitShape<typeof NodeSchema> => ({
    id: nodeId,
    metadata: { name: label },
    upstreamNodeIds: [...after],
    target: { case: "taskNode", value: { reference: { case: "referenceId", value: id(ResourceType.TASK, `${tasks}.work`) } } },
  });
  const template = (of: string, nodes: readonly MessageInitShape<typeof NodeSchema>[]) =>
    create(WorkflowTemplateSchema, {
      id: id(ResourceType.WORKFLOW, of),
      metadata: {},
      metadataDefaults: {},
      interface: { inputs: {}, outputs: {} },
      nodes: [...nodes],
    });
  const inner = template(`journeys.${name}.inner`, [task("n0", "first", []), task("n1", "second", ["n0"])]);
  const main = template(`journeys.${name}`, [
    task("n0", "load", []),
    {
      id: "n1",
      metadata: { name: "inner" },
      upstreamNodeIds: ["n0"],
      target: { case: "workflowNode", value: { reference: { case: "subWorkflowRef", value: inner.id as NonNullable<typeof inner.id> } } },
    },
    {
      id: "n2",
      metadata: { name: "gate" },
      upstreamNodeIds: ["n1"],
      target: { case: "gateNode", value: { condition: { case: "approve", value: { signalId: SIGNAL } } } },
    },
    task("n3", "finish", ["n2"]),
  ]);
  const launchPlan = id(ResourceType.LAUNCH_PLAN, `journeys.${name}`);
  await client.admin.createWorkflow({ id: main.id as NonNullable<typeof main.id>, spec: { template: main, subWorkflows: [inner] } });
  await client.admin.createLaunchPlan({ id: launchPlan, spec: { workflowId: main.id as NonNullable<typeof main.id>, entityMetadata: {} } });
  await client.admin.createExecution({ ...TARGET, name, spec: { launchPlan, metadata: {} }, inputs: {} });
}

/** Approves the gate of an execution. */
export async function approveGate(client: FlyteClient, name: string): Promise<void> {
  const { project, domain } = TARGET;
  await client.signals.setSignal({
    id: { signalId: SIGNAL, executionId: { project, domain, name } },
    value: { value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "boolean", value: true } } } } } },
  });
}
