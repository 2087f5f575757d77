import { create, type DescMethod, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";

export const scope = { project: "flytesnacks", domain: "development" };

/** Identifier of version `v1`, by default with the name `known`. */
export function identifier(
  resourceType: ResourceType,
  { project = scope.project, name = "known" }: { project?: string; name?: string } = {},
): Identifier {
  return create(IdentifierSchema, { resourceType, project, domain: scope.domain, name, version: "v1" });
}

const integer = { type: { case: "simple" as const, value: SimpleType.INTEGER } };
const inputs = { variables: { a: { type: integer } } };

export function taskRequest(taskId: Identifier) {
  const container = { image: "shell:1", command: ["true"] };
  const metadata = { runtime: { type: 1, version: "1", flavor: "shell" } };
  return {
    id: taskId,
    spec: {
      template: {
        id: taskId,
        type: "container",
        metadata,
        interface: { inputs, outputs: {} },
        target: { case: "container" as const, value: container },
      },
    },
  };
}

/** Nodes of one task each; `after` names the upstream nodes of each. */
export function workflowRequest(workflowId: Identifier, after: Readonly<Record<string, readonly string[]>>) {
  const referenceId = identifier(ResourceType.TASK, { project: workflowId.project });
  const nodes = Object.entries(after).map(([nodeId, upstream]) => ({
    id: nodeId,
    metadata: { name: nodeId },
    upstreamNodeIds: [...upstream],
    inputs: [{ var: "a", binding: { value: { case: "promise" as const, value: { nodeId: "", var: "a" } } } }],
    target: { case: "taskNode" as const, value: { reference: { case: "referenceId" as const, value: referenceId } } },
  }));
  const template = { id: workflowId, metadata: {}, metadataDefaults: {}, interface: { inputs, outputs: {} }, nodes };
  return { id: workflowId, spec: { template } };
}

export const integerLiteral = (value: bigint) => ({
  value: {
    case: "scalar" as const,
    value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value } } } },
  },
});
export const textOf = (value: string) => ({
  value: {
    case: "scalar" as const,
    value: { value: { case: "primitive" as const, value: { value: { case: "stringValue" as const, value } } } },
  },
});
export const validInputs = { literals: { a: integerLiteral(1n) } };

export function launchPlanRequest(launchPlanId: Identifier) {
  const workflowId = identifier(ResourceType.WORKFLOW, { project: launchPlanId.project });
  const a = { var: { type: integer }, behavior: { case: "required" as const, value: true } };
  return { id: launchPlanId, spec: { workflowId, entityMetadata: {}, defaultInputs: { parameters: { a } } } };
}

/** Request for an execution of the launch plan `known` of its project. */
export function executionRequest(
  name: string,
  { project = scope.project, ...changes }: { project?: string; spec?: object; inputs?: object } = {},
) {
  const spec = { launchPlan: identifier(ResourceType.LAUNCH_PLAN, { project }), metadata: {} };
  return { ...scope, project, name, spec, inputs: validInputs, ...changes };
}

/**
 * Valid requests by method path: each create uses a new name, events refer to the execution
 * `running()`.
 */
export function validRequests(project: string, running: () => string): Record<string, () => Uint8Array> {
  const { method } = AdminService;
  let count = 0;
  const at = (type: ResourceType, name = "known") => identifier(type, { project, name });
  const next = (type: ResourceType) => at(type, `r${++count}`);
  const executionId = { project, domain: scope.domain, name: "known" };
  const ofRunning = () => ({ project, domain: scope.domain, name: running() });
  const event = () => ({ executionId: ofRunning(), occurredAt: timestampFromDate(new Date()), producerId: "propeller" });
  const nodeId = () => ({ executionId: ofRunning(), nodeId: "n0" });
  const scoped = { id: executionId, limit: 10, sortBy: { key: "created_at", direction: 0 } };
  const sample = <Method extends DescMethod>(of: Method, request: () => MessageInitShape<Method["input"]>) => {
    const path = `/${of.parent.typeName}/${of.name}`;
    return [path, (): Uint8Array => toBinary(of.input, create(of.input, request()))] as const;
  };
  return Object.fromEntries([
    sample(method.createTask, () => taskRequest(next(ResourceType.TASK))),
    sample(method.createWorkflow, () => workflowRequest(next(ResourceType.WORKFLOW), { n0: [], n1: ["n0"] })),
    sample(method.createLaunchPlan, () => launchPlanRequest(next(ResourceType.LAUNCH_PLAN))),
    sample(method.createExecution, () => executionRequest(`r${++count}`, { project })),
    sample(method.relaunchExecution, () => ({ id: executionId, name: `r${++count}` })),
    sample(method.recoverExecution, () => ({ id: executionId, name: `r${++count}` })),
    sample(method.createWorkflowEvent, () => ({ requestId: "1", event: { ...event(), phase: WorkflowExecution_Phase.RUNNING } })),
    sample(method.createNodeEvent, () => ({ requestId: "1", event: { ...event(), id: nodeId(), phase: NodeExecution_Phase.RUNNING } })),
    sample(method.createTaskEvent, () => ({
      requestId: "1",
      event: { ...event(), taskId: at(ResourceType.TASK), parentNodeExecutionId: nodeId(), phase: TaskExecution_Phase.RUNNING },
    })),
    sample(method.listTasks, () => scoped),
    sample(method.listExecutions, () => scoped),
    sample(method.listWorkflows, () => scoped),
    sample(method.listLaunchPlans, () => scoped),
    sample(method.listNodeExecutions, () => ({ workflowExecutionId: ofRunning(), limit: 10 })),
    sample(method.listTaskExecutions, () => ({ nodeExecutionId: nodeId(), limit: 10 })),
    sample(method.listNamedEntities, () => ({ resourceType: ResourceType.TASK, project, domain: scope.domain, limit: 10 })),
    sample(method.getExecutionMetrics, () => ({ id: executionId, depth: 2 })),
  ]);
}
