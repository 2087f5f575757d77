import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { type TaskTemplate, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/** Task type: `echo` returns its input, `core-sleep` waits for its duration. */
export type TaskKind = "echo" | "core-sleep";

export interface Target {
  readonly project: string;
  readonly domain: string;
  readonly version: string;
}

/** Topologies of static graphs; `size` counts task nodes, or the items of a map's array node. */
export type Topology = "chain" | "fan-out" | "map";

const variables = (types: Readonly<Record<string, SimpleType>>, lists = false): MessageInitShape<typeof VariableMapSchema> => ({
  variables: Object.fromEntries(
    Object.entries(types).map(([name, value]) => {
      const type = { type: { case: "simple" as const, value } };
      return [name, { type: lists ? { type: { case: "collectionType" as const, value: type } } : type }];
    }),
  ),
});

const identifier = (target: Target, resourceType: ResourceType, name: string): Identifier =>
  create(IdentifierSchema, { ...target, resourceType, name });

/**
 * Builds a task that returns its integer input, or one that takes a duration and returns nothing.
 * For a map, its inputs and outputs are lists.
 */
export function buildTask(target: Target, taskKind: TaskKind, topology: Topology): TaskTemplate {
  const lists = topology === "map";
  const echo = taskKind === "echo";
  return create(TaskTemplateSchema, {
    id: identifier(target, ResourceType.TASK, `bench.${taskKind}${lists ? ".map" : ""}`),
    type: taskKind,
    metadata: { runtime: { type: 1, version: "1.16.31", flavor: "python" }, retries: { retries: 0 } },
    interface: {
      inputs: variables(echo ? { a: SimpleType.INTEGER } : { duration: SimpleType.DURATION }, lists),
      outputs: variables(echo ? { o0: SimpleType.INTEGER } : {}, lists),
    },
  });
}

/** Returns the name of a workload's workflow and launch plan. */
export function workflowName({ topology, size, taskKind }: { topology: Topology; size: number; taskKind: TaskKind }): string {
  return `bench.${topology}.${size}.${taskKind}`;
}

/**
 * A workflow of `size` tasks: in sequence, in parallel, or as items of a map. Tasks that read an
 * input get the workflow's one input.
 */
export function buildWorkflow(
  target: Target,
  topology: Topology,
  { size, taskKind }: { size: number; taskKind: TaskKind },
): WorkflowTemplate {
  const input = taskKind === "echo" ? "a" : "duration";
  const chained = topology === "chain";
  const taskNode = {
    case: "taskNode" as const,
    value: { reference: { case: "referenceId" as const, value: buildTask(target, taskKind, topology).id as Identifier } },
  };
  const list = Array.from({ length: size }, () => ({ value: { case: "promise" as const, value: { nodeId: "", var: input } } }));
  const map = {
    id: "n0",
    metadata: { name: "map" },
    inputs: [{ var: input, binding: { value: { case: "collection" as const, value: { bindings: list } } } }],
    target: { case: "arrayNode" as const, value: { node: { id: "n0", metadata: { name: "item" }, target: taskNode } } },
  };
  const leaves = Array.from({ length: size }, (_, index) => {
    const follows = chained && index > 0;
    const promise = follows && taskKind === "echo" ? { nodeId: `n${index - 1}`, var: "o0" } : { nodeId: "", var: input };
    return {
      id: `n${index}`,
      metadata: { name: `task ${index}` },
      inputs: [{ var: input, binding: { value: { case: "promise" as const, value: promise } } }],
      upstreamNodeIds: follows ? [`n${index - 1}`] : [],
      target: taskNode,
    };
  });
  return create(WorkflowTemplateSchema, {
    id: identifier(target, ResourceType.WORKFLOW, workflowName({ topology, size, taskKind })),
    metadata: {},
    metadataDefaults: {},
    interface: {
      inputs: variables(taskKind === "echo" ? { a: SimpleType.INTEGER } : { duration: SimpleType.DURATION }),
      outputs: variables({}),
    },
    nodes: topology === "map" ? [map] : leaves,
  });
}

/** The launch plan with the workflow's name. */
export function launchPlanId(workflow: WorkflowTemplate): Identifier {
  return create(IdentifierSchema, { ...(workflow.id as Identifier), resourceType: ResourceType.LAUNCH_PLAN });
}
