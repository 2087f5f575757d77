import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import type { FlyteClient } from "@flyte-ts/client";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { type NodeSchema, type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { TARGET } from "../../stack/shell-tasks.js";

const PROGRAM = join(dirname(fileURLToPath(import.meta.url)), "task-program.mjs");

/**
 * A task from string `x` to string `o`: an echo without a pod, or a pod that runs task-program.mjs.
 */
export interface TaskSpec {
  readonly name: string;
  readonly behaviour: string;
  readonly retries?: number;
  readonly cached?: boolean;
}

export interface NodeSpec {
  readonly id: string;
  readonly target: { readonly kind: "task" | "workflow" | "launchPlan"; readonly name: string };
  /** Node whose output `o` becomes the input; empty for the workflow's own input. */
  readonly from: string;
}

export interface WorkflowSpec {
  readonly name: string;
  readonly nodes: readonly NodeSpec[];
  readonly failureNode?: NodeSpec;
  /** Sub-workflows that its nodes run. */
  readonly subWorkflows?: readonly WorkflowSpec[];
}

export interface PodOptions {
  /** File to which each attempt appends a line. */
  readonly journal: string;
  /** Duration of each attempt, ms. */
  readonly sleepMs: number;
}

const text = { type: { type: { case: "simple" as const, value: SimpleType.STRING } } };
const INTERFACE = { inputs: { variables: { x: text } }, outputs: { variables: { o: text } } };
const id = (resourceType: ResourceType, name: string): Identifier =>
  create(IdentifierSchema, { ...TARGET, resourceType, name: `complete-ends.${name}` });

/** Launch plan of a workflow that {@link registerWorkflow} registered. */
export const launchPlanOf = (workflow: string): Identifier => id(ResourceType.LAUNCH_PLAN, workflow);

export async function registerTask(
  client: FlyteClient,
  { name, behaviour, retries = 0, cached = false }: TaskSpec,
  pods: PodOptions,
): Promise<void> {
  const taskId = id(ResourceType.TASK, name);
  const args = [PROGRAM, behaviour, "{{.inputs.x}}", "{{.outputPrefix}}", "{{.PerRetryUniqueKey}}", pods.journal, String(pods.sleepMs)];
  const template = create(TaskTemplateSchema, {
    id: taskId,
    type: behaviour === "echo" ? "echo" : "container",
    metadata: {
      runtime: { type: 1, version: "1", flavor: "test" },
      retries: { retries },
      discoverable: cached,
      discoveryVersion: cached ? "1" : "",
    },
    interface: INTERFACE,
    ...(behaviour === "echo"
      ? {}
      : { target: { case: "container" as const, value: { image: "node:1", command: [process.execPath], args } } }),
  });
  await client.admin.createTask({ id: taskId, spec: { template } });
}

/** Registers a workflow and a launch plan of that name. */
export async function registerWorkflow(client: FlyteClient, spec: WorkflowSpec): Promise<void> {
  const { name, subWorkflows = [] } = spec;
  const workflowId = id(ResourceType.WORKFLOW, name);
  const compiled = { template: templateOf(spec), subWorkflows: subWorkflows.map(templateOf) };
  await client.admin.createWorkflow({ id: workflowId, spec: compiled });
  await client.admin.createLaunchPlan({ id: launchPlanOf(name), spec: { workflowId, entityMetadata: {} } });
}

function templateOf({ name, nodes, failureNode }: WorkflowSpec): WorkflowTemplate {
  const last = nodes.at(-1)?.id ?? "";
  return create(WorkflowTemplateSchema, {
    id: id(ResourceType.WORKFLOW, name),
    metadata: {},
    metadataDefaults: {},
    interface: INTERFACE,
    nodes: nodes.map(nodeOf),
    outputs: [{ var: "o", binding: { value: { case: "promise", value: { nodeId: last, var: "o" } } } }],
    ...(failureNode && { failureNode: nodeOf(failureNode) }),
  });
}

function nodeOf({ id: nodeId, target, from }: NodeSpec): MessageInitShape<typeof NodeSchema> {
  const promise = { nodeId: from, var: from === "" ? "x" : "o" };
  return {
    id: nodeId,
    metadata: { name: nodeId },
    inputs: [{ var: "x", binding: { value: { case: "promise", value: promise } } }],
    upstreamNodeIds: from === "" ? [] : [from],
    target: targetOf(target),
  };
}

function targetOf({ kind, name }: NodeSpec["target"]): MessageInitShape<typeof NodeSchema>["target"] {
  switch (kind) {
    case "task":
      return { case: "taskNode", value: { reference: { case: "referenceId", value: id(ResourceType.TASK, name) } } };
    case "workflow":
      return { case: "workflowNode", value: { reference: { case: "subWorkflowRef", value: id(ResourceType.WORKFLOW, name) } } };
    case "launchPlan":
      return { case: "workflowNode", value: { reference: { case: "launchplanRef", value: launchPlanOf(name) } } };
  }
}
