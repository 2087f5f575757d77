import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { type TaskTemplate, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";

/** What a leaf does: `echo` gives its input back, `core-sleep` waits for its duration. */
export type Leaf = "echo" | "core-sleep";

export interface Target {
  readonly project: string;
  readonly domain: string;
  readonly version: string;
}

/** Shapes of static graphs; `size` counts task nodes. */
export type Shape = "chain" | "fan-out";

const variables = (types: Readonly<Record<string, SimpleType>>): MessageInitShape<typeof VariableMapSchema> => ({
  variables: Object.fromEntries(
    Object.entries(types).map(([name, simple]) => [name, { type: { type: { case: "simple", value: simple } } }]),
  ),
});

const identifier = (target: Target, resourceType: ResourceType, name: string): Identifier =>
  create(IdentifierSchema, { ...target, resourceType, name });

/** One integer in, the same integer out; or one duration in, nothing out. */
export function leafTask(target: Target, leaf: Leaf): TaskTemplate {
  const echo = leaf === "echo";
  return create(TaskTemplateSchema, {
    id: identifier(target, ResourceType.TASK, `bench.${leaf}`),
    type: leaf,
    metadata: { runtime: { type: 1, version: "1.16.31", flavor: "python" }, retries: { retries: 0 } },
    interface: {
      inputs: variables(echo ? { a: SimpleType.INTEGER } : { duration: SimpleType.DURATION }),
      outputs: variables(echo ? { o0: SimpleType.INTEGER } : {}),
    },
  });
}

/** A workflow of `size` leaves: one after the other, or all at once. Its one input goes to the leaves that read it. */
export function shapedWorkflow(target: Target, shape: Shape, { size, leaf }: { size: number; leaf: Leaf }): WorkflowTemplate {
  const input = leaf === "echo" ? "a" : "duration";
  const chained = shape === "chain";
  const nodes = Array.from({ length: size }, (_, index) => {
    const follows = chained && index > 0;
    const promise = follows && leaf === "echo" ? { nodeId: `n${index - 1}`, var: "o0" } : { nodeId: "", var: input };
    return {
      id: `n${index}`,
      metadata: { name: `leaf ${index}` },
      inputs: [{ var: input, binding: { value: { case: "promise" as const, value: promise } } }],
      upstreamNodeIds: follows ? [`n${index - 1}`] : [],
      target: {
        case: "taskNode" as const,
        value: { reference: { case: "referenceId" as const, value: leafTask(target, leaf).id as Identifier } },
      },
    };
  });
  return create(WorkflowTemplateSchema, {
    id: identifier(target, ResourceType.WORKFLOW, `bench.${shape}.${size}.${leaf}`),
    metadata: {},
    metadataDefaults: {},
    interface: {
      inputs: variables(leaf === "echo" ? { a: SimpleType.INTEGER } : { duration: SimpleType.DURATION }),
      outputs: variables({}),
    },
    nodes,
  });
}

/** The launch plan that carries the workflow's own name. */
export function launchPlanId(workflow: WorkflowTemplate): Identifier {
  return create(IdentifierSchema, { ...(workflow.id as Identifier), resourceType: ResourceType.LAUNCH_PLAN });
}
