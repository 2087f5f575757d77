import { create, type DescMethod, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { FlyteClient } from "@flyte-ts/client";
import { ArtifactType, DataProxyService } from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { ExecutionState } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import {
  NodeExecution_Phase as Node,
  TaskExecution_Phase as Task,
  WorkflowExecution_Phase as Workflow,
} from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { NodeExecutionIdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import { AgentMetadataService } from "@flyte-ts/idl/flyteidl/service/agent_pb";
import { AuthMetadataService } from "@flyte-ts/idl/flyteidl/service/auth_pb";
import { IdentityService } from "@flyte-ts/idl/flyteidl/service/identity_pb";
import { SignalService } from "@flyte-ts/idl/flyteidl/service/signal_pb";
import { executionRequest, validInputs, identifier, launchPlanRequest, scope, taskRequest, workflowRequest } from "./valid-requests.js";

/** Services that clients of Flyte use and admin serves. */
export const SERVICES = [
  AdminService,
  DataProxyService,
  SignalService,
  AuthMetadataService,
  IdentityService,
  AgentMetadataService,
] as const;

export const AGENT = { name: "queries", isSync: true };
/** The execution that has data for every read. */
const FIXTURE_EXECUTION = { ...scope, name: "world" };
const node = { executionId: FIXTURE_EXECUTION, nodeId: "n0" };
const dynamicNode = { executionId: FIXTURE_EXECUTION, nodeId: "n1" };
const taskExecution = { taskId: identifier(ResourceType.TASK), nodeExecutionId: node, retryAttempt: 0 };
const kind = MatchableResource.EXECUTION_QUEUE;
const queue = { target: { case: "executionQueueAttributes" as const, value: { tags: ["fast"] } } };
const boolean = { type: { case: "simple" as const, value: SimpleType.BOOLEAN } };
const yes = {
  value: {
    case: "scalar" as const,
    value: { value: { case: "primitive" as const, value: { value: { case: "boolean" as const, value: true } } } },
  },
};

/**
 * Creates the objects that {@link samples} read: definitions, an execution with all optional data,
 * attributes, a signal.
 */
export async function seedFixtures({ admin, signals, dataProxy }: FlyteClient): Promise<void> {
  const { spec } = taskRequest(identifier(ResourceType.TASK));
  const longDescription = { content: { case: "value" as const, value: "long" } };
  await admin.createTask({
    id: identifier(ResourceType.TASK),
    spec: { ...spec, description: { shortDescription: "short", longDescription } },
  });
  await admin.createWorkflow(workflowRequest(identifier(ResourceType.WORKFLOW), { n0: [], n1: ["n0"] }));
  await admin.createLaunchPlan(launchPlanRequest(identifier(ResourceType.LAUNCH_PLAN)));
  await admin.updateLaunchPlan({ id: identifier(ResourceType.LAUNCH_PLAN), state: LaunchPlanState.ACTIVE });
  await admin.registerProject({ project: { id: "spare", name: "Spare" } });
  await admin.createExecution(executionRequest(FIXTURE_EXECUTION.name));
  const upload = await dataProxy.createUploadLocation({ ...scope, filename: "deck.html", filenameRoot: "decks" });
  await fetch(upload.signedUrl, { method: "PUT", body: "<html></html>" });
  const occurredAt = timestampFromDate(new Date());
  const outputs = { case: "outputData" as const, value: validInputs };
  await admin.createWorkflowEvent({ event: { executionId: FIXTURE_EXECUTION, occurredAt, phase: Workflow.RUNNING } });
  await admin.createNodeEvent({
    event: { id: node, occurredAt, phase: Node.RUNNING, inputValue: { case: "inputData", value: validInputs } },
  });
  const taskEvent = { taskId: identifier(ResourceType.TASK), parentNodeExecutionId: node, retryAttempt: 0, occurredAt };
  await admin.createTaskEvent({ event: { ...taskEvent, phase: Task.RUNNING } });
  // Older engines report nodes of a dynamic task as children of its node.
  const childId = { executionId: FIXTURE_EXECUTION, nodeId: "n0-child" };
  await admin.createNodeEvent({ event: { id: childId, occurredAt, phase: Node.RUNNING, parentTaskMetadata: { id: taskExecution } } });
  await admin.createTaskEvent({ event: { ...taskEvent, phase: Task.SUCCEEDED, outputResult: outputs } });
  await admin.createNodeEvent({ event: { id: node, occurredAt, phase: Node.SUCCEEDED, deckUri: upload.nativeUrl, outputResult: outputs } });
  const { closure } = await admin.getWorkflow({ id: identifier(ResourceType.WORKFLOW) });
  const compiledWorkflow = closure?.compiledWorkflow;
  if (compiledWorkflow === undefined) throw new Error("the workflow has no closure");
  const dynamicWorkflow = { id: identifier(ResourceType.WORKFLOW, { name: "made" }), compiledWorkflow };
  const targetMetadata = { case: "taskNodeMetadata" as const, value: { dynamicWorkflow } };
  await admin.createNodeEvent({ event: { id: dynamicNode, occurredAt, phase: Node.DYNAMIC_RUNNING, isDynamic: true, targetMetadata } });
  await signals.getOrCreateSignal({ id: { signalId: "go", executionId: FIXTURE_EXECUTION }, type: boolean });
  const { project, domain } = scope;
  await admin.updateProjectAttributes({ attributes: { project, matchingAttributes: queue } });
  await admin.updateProjectDomainAttributes({ attributes: { project, domain, matchingAttributes: queue } });
  await admin.updateWorkflowAttributes({ attributes: { project, domain, workflow: "known", matchingAttributes: queue } });
}

/**
 * A valid request of one method. Objects that it creates have `fresh` in their name; an async
 * sample first creates what the request changes.
 */
export type Sample = (fresh: string) => object | Promise<object>;

/** Valid requests of all methods of {@link SERVICES}, by `Service.Method`. */
export function samples({ admin, signals }: FlyteClient): ReadonlyMap<string, Sample> {
  const list = { limit: 5, sortBy: { key: "created_at", direction: 0 } };
  const { project, domain } = scope;
  const at = { project, domain };
  const sample = <Method extends DescMethod>(
    of: Method,
    request: (fresh: string) => MessageInitShape<Method["input"]> | Promise<MessageInitShape<Method["input"]>>,
  ): [string, Sample] => [nameOf(of), request as Sample];
  const entityReads = (types: ResourceType, [get, ids, listed]: readonly [DescMethod, DescMethod, DescMethod]): [string, Sample][] => [
    sample(get, () => ({ id: identifier(types) })),
    sample(ids, () => ({ ...at, ...list, sortBy: { key: "name", direction: 1 } })),
    sample(listed, () => ({ id: { ...at, name: "known" }, ...list })),
  ];
  const execution = async (name: string) => {
    await admin.createExecution(executionRequest(name));
    return { ...at, name };
  };
  const newProject = async (name: string) => {
    await admin.registerProject({ project: { id: name, name } });
    return name;
  };
  const occurredAt = timestampFromDate(new Date());
  const m = AdminService.method;
  const data = DataProxyService.method;
  const signalling = SignalService.method;
  return new Map([
    sample(m.createTask, (n) => taskRequest(identifier(ResourceType.TASK, { name: `t-${n}` }))),
    sample(m.createWorkflow, (n) => workflowRequest(identifier(ResourceType.WORKFLOW, { name: `w-${n}` }), { n0: [] })),
    sample(m.createLaunchPlan, (n) => launchPlanRequest(identifier(ResourceType.LAUNCH_PLAN, { name: `l-${n}` }))),
    ...entityReads(ResourceType.TASK, [m.getTask, m.listTaskIds, m.listTasks]),
    ...entityReads(ResourceType.WORKFLOW, [m.getWorkflow, m.listWorkflowIds, m.listWorkflows]),
    ...entityReads(ResourceType.LAUNCH_PLAN, [m.getLaunchPlan, m.listLaunchPlanIds, m.listLaunchPlans]),
    sample(m.getActiveLaunchPlan, () => ({ id: { ...at, name: "known" } })),
    sample(m.listActiveLaunchPlans, () => ({ ...at, ...list })),
    sample(m.updateLaunchPlan, () => ({ id: identifier(ResourceType.LAUNCH_PLAN), state: LaunchPlanState.ACTIVE })),
    sample(m.createExecution, (n) => executionRequest(`x-${n}`)),
    sample(m.relaunchExecution, (n) => ({ id: FIXTURE_EXECUTION, name: `again-${n}` })),
    sample(m.recoverExecution, (n) => ({ id: FIXTURE_EXECUTION, name: `recovered-${n}` })),
    sample(m.getExecution, () => ({ id: FIXTURE_EXECUTION })),
    sample(m.updateExecution, () => ({ id: FIXTURE_EXECUTION, state: ExecutionState.EXECUTION_ACTIVE })),
    sample(m.getExecutionData, () => ({ id: FIXTURE_EXECUTION })),
    sample(m.listExecutions, () => ({ id: at, ...list })),
    sample(m.terminateExecution, async (n) => ({ id: await execution(`ended-${n}`), cause: "enough" })),
    sample(m.getExecutionMetrics, () => ({ id: FIXTURE_EXECUTION, depth: 3 })),
    sample(m.getNodeExecution, () => ({ id: node })),
    sample(m.getDynamicNodeWorkflow, () => ({ id: dynamicNode })),
    sample(m.listNodeExecutions, () => ({ workflowExecutionId: FIXTURE_EXECUTION, ...list })),
    sample(m.listNodeExecutionsForTask, () => ({ taskExecutionId: taskExecution, ...list })),
    sample(m.getNodeExecutionData, () => ({ id: node })),
    sample(m.getTaskExecution, () => ({ id: taskExecution })),
    sample(m.listTaskExecutions, () => ({ nodeExecutionId: node, ...list })),
    sample(m.getTaskExecutionData, () => ({ id: taskExecution })),
    sample(m.registerProject, (n) => ({ project: { id: `p-${n}`, name: n } })),
    sample(m.updateProject, () => ({ id: "spare", name: "Spare", description: "kept" })),
    sample(m.getProject, () => ({ id: project })),
    sample(m.listProjects, () => ({ limit: 2, sortBy: { key: "identifier", direction: 1 } })),
    sample(m.getDomains, () => ({})),
    sample(m.createWorkflowEvent, async (n) => ({
      event: { executionId: await execution(`we-${n}`), occurredAt, phase: Workflow.RUNNING },
    })),
    sample(m.createNodeEvent, async (n) => ({
      event: { id: { executionId: await execution(`ne-${n}`), nodeId: "n0" }, occurredAt, phase: Node.RUNNING },
    })),
    sample(m.createTaskEvent, async (n) => {
      const executionId = await execution(`te-${n}`);
      const parentNodeExecutionId = { executionId, nodeId: "n0" };
      await admin.createNodeEvent({ event: { id: parentNodeExecutionId, occurredAt, phase: Node.RUNNING } });
      return { event: { taskId: identifier(ResourceType.TASK), parentNodeExecutionId, occurredAt, phase: Task.RUNNING } };
    }),
    sample(m.updateProjectAttributes, async (n) => ({ attributes: { project: await newProject(`pa-${n}`), matchingAttributes: queue } })),
    sample(m.getProjectAttributes, () => ({ project, resourceType: kind })),
    sample(m.deleteProjectAttributes, () => ({ project: "spare", resourceType: kind })),
    sample(m.updateProjectDomainAttributes, async (n) => ({
      attributes: { project: await newProject(`pd-${n}`), domain, matchingAttributes: queue },
    })),
    sample(m.getProjectDomainAttributes, () => ({ ...at, resourceType: kind })),
    sample(m.deleteProjectDomainAttributes, () => ({ project: "spare", domain, resourceType: kind })),
    sample(m.updateWorkflowAttributes, (n) => ({ attributes: { ...at, workflow: `wa-${n}`, matchingAttributes: queue } })),
    sample(m.getWorkflowAttributes, () => ({ ...at, workflow: "known", resourceType: kind })),
    sample(m.deleteWorkflowAttributes, () => ({ ...at, workflow: "spare", resourceType: kind })),
    sample(m.listMatchableAttributes, () => ({ resourceType: kind })),
    sample(m.listNamedEntities, () => ({ resourceType: ResourceType.TASK, ...at, ...list, sortBy: { key: "name", direction: 1 } })),
    sample(m.getNamedEntity, () => ({ resourceType: ResourceType.WORKFLOW, id: { ...at, name: "known" } })),
    sample(m.updateNamedEntity, () => ({
      resourceType: ResourceType.TASK,
      id: { ...at, name: "known" },
      metadata: { description: "told" },
    })),
    sample(m.getVersion, () => ({})),
    sample(m.getDescriptionEntity, () => ({ id: identifier(ResourceType.TASK) })),
    sample(m.listDescriptionEntities, () => ({ resourceType: ResourceType.TASK, id: { ...at, name: "known" }, ...list })),
    sample(data.createUploadLocation, (n) => ({ ...at, filename: `f-${n}`, contentMd5: new Uint8Array(16) })),
    sample(data.createDownloadLocation, () => ({
      nativeUrl: `s3://my-s3-bucket/${project}/${domain}/decks/deck.html`,
      expiresIn: durationFromMs(60_000),
    })),
    sample(data.createDownloadLink, () => ({
      artifactType: ArtifactType.DECK,
      source: { case: "nodeExecutionId" as const, value: create(NodeExecutionIdentifierSchema, node) },
    })),
    sample(data.getData, () => ({ flyteUrl: `flyte://v1/${project}/${domain}/${FIXTURE_EXECUTION.name}/n0/o` })),
    sample(signalling.getOrCreateSignal, (n) => ({ id: { signalId: `s-${n}`, executionId: FIXTURE_EXECUTION }, type: boolean })),
    sample(signalling.listSignals, () => ({ workflowExecutionId: FIXTURE_EXECUTION, ...list, sortBy: { key: "signal_id", direction: 1 } })),
    sample(signalling.setSignal, async (n) => {
      const signalId = { signalId: `set-${n}`, executionId: FIXTURE_EXECUTION };
      await signals.getOrCreateSignal({ id: signalId, type: boolean });
      return { id: signalId, value: yes };
    }),
    sample(AuthMetadataService.method.getOAuth2Metadata, () => ({})),
    sample(AuthMetadataService.method.getPublicClientConfig, () => ({})),
    sample(IdentityService.method.userInfo, () => ({})),
    sample(AgentMetadataService.method.listAgents, () => ({})),
    sample(AgentMetadataService.method.getAgent, () => ({ name: AGENT.name })),
  ]);
}

/** `Service.Method`, as in docs/reference/compatibility.md. */
export function nameOf(method: DescMethod): string {
  return `${method.parent.name}.${method.name}`;
}
