import { create } from "@bufbuild/protobuf";
import { singleTaskNodeId, singleTaskWorkflowName } from "@flyte-ts/domain/name";
import { AnnotationsSchema, LabelsSchema, NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import type { ExecutionSpec } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { LaunchPlanMetadataSchema, LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { type Identifier, IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { VariableMap } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { ParameterMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import {
  type Binding,
  BindingDataSchema,
  BindingSchema,
  LiteralMapSchema,
  RetryStrategySchema,
} from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { type WorkflowTemplate, WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { ExecutionsDeps } from "../deps.js";
import { missingEntity } from "../../platform/index.js";
import {
  createLaunchPlanInternal,
  createWorkflowInternal,
  findLaunchPlan,
  findTask,
  findWorkflowInterface,
  type StoredLaunchPlan,
} from "../../registry/index.js";

/** Retries of tasks whose template sets none. */
const DEFAULT_RETRIES = 3;

export interface SingleTask {
  readonly taskRowId: bigint;
  readonly workflow: Identifier;
  readonly workflowRowId: bigint;
  readonly launchPlan: StoredLaunchPlan;
}

/**
 * Creates, unless they exist, the hidden workflow and launch plan of the execution of a single
 * task: clients expect a graph with one node besides start and end.
 *
 * @throws RpcError NOT_FOUND when the task is not registered.
 */
export async function ensureSingleTask(
  deps: Pick<ExecutionsDeps, "db" | "config" | "clock">,
  taskId: Identifier,
  spec: ExecutionSpec,
): Promise<SingleTask> {
  const { db } = deps;
  const task = await findTask(db, taskId);
  const template = task?.compiled.template;
  if (task === undefined || template === undefined) throw missingEntity("TASK", taskId);
  const named = (resourceType: ResourceType) =>
    create(IdentifierSchema, {
      resourceType,
      project: taskId.project,
      domain: taskId.domain,
      name: singleTaskWorkflowName(taskId.name),
      version: taskId.version,
    });
  const workflow = named(ResourceType.WORKFLOW);
  const workflowRowId = await ensureWorkflow(deps, { id: workflow, task: template, taskId });
  const launchPlan = await ensureLaunchPlan(deps, { id: named(ResourceType.LAUNCH_PLAN), workflow, taskId, spec });
  return { taskRowId: task.rowId, workflow, workflowRowId, launchPlan };
}

async function ensureWorkflow(
  deps: Pick<ExecutionsDeps, "db" | "config" | "clock">,
  { id, task, taskId }: { readonly id: Identifier; readonly task: TaskTemplate; readonly taskId: Identifier },
): Promise<bigint> {
  const found = await findWorkflowInterface(deps.db, id);
  if (found !== undefined) return found.rowId;
  const template = workflowAround(id, task, taskId);
  return (await createWorkflowInternal(deps, { id, template, subWorkflows: [] }, NamedEntityState.SYSTEM_GENERATED)).rowId;
}

interface HiddenLaunchPlan {
  readonly id: Identifier;
  readonly workflow: Identifier;
  readonly taskId: Identifier;
  readonly spec: ExecutionSpec;
}

async function ensureLaunchPlan(
  deps: Pick<ExecutionsDeps, "db" | "config" | "clock">,
  { id, workflow, taskId, spec }: HiddenLaunchPlan,
): Promise<StoredLaunchPlan> {
  const found = await findLaunchPlan(deps.db, id);
  if (found !== undefined) return found;
  const head = await findWorkflowInterface(deps.db, workflow);
  if (head === undefined) throw new Error("a workflow that was just stored no longer exists");
  const launchPlanSpec = create(LaunchPlanSpecSchema, {
    // As in Flyte: the name of the task.
    workflowId: create(IdentifierSchema, { ...taskId, resourceType: ResourceType.WORKFLOW }),
    entityMetadata: create(LaunchPlanMetadataSchema),
    defaultInputs: create(ParameterMapSchema),
    fixedInputs: create(LiteralMapSchema),
    labels: create(LabelsSchema),
    annotations: create(AnnotationsSchema),
    ...(spec.authRole && { authRole: spec.authRole }),
    ...(spec.securityContext && { securityContext: spec.securityContext }),
  });
  try {
    return await createLaunchPlanInternal(deps, { id, spec: launchPlanSpec, workflow: head }, NamedEntityState.SYSTEM_GENERATED);
  } catch (error) {
    // A concurrent caller may have created it with another role: it is equivalent, since only its
    // inputs are used.
    const theirs = await findLaunchPlan(deps.db, id);
    if (theirs !== undefined) return theirs;
    throw error;
  }
}

function workflowAround(id: Identifier, task: TaskTemplate, taskId: Identifier): WorkflowTemplate {
  const nodeId = singleTaskNodeId(taskId.name);
  return create(WorkflowTemplateSchema, {
    id,
    ...(task.interface && { interface: task.interface }),
    nodes: [
      {
        id: nodeId,
        metadata: { name: nodeId, retries: task.metadata?.retries ?? create(RetryStrategySchema, { retries: DEFAULT_RETRIES }) },
        inputs: promises(task.interface?.inputs, ""),
        target: {
          case: "taskNode",
          value: { reference: { case: "referenceId", value: create(IdentifierSchema, { ...taskId, resourceType: ResourceType.TASK }) } },
        },
      },
    ],
    outputs: promises(task.interface?.outputs, nodeId),
  });
}

/**
 * Binds every variable to the variable of the same name of the node; an empty id means the
 * workflow's own inputs.
 */
function promises(variables: VariableMap | undefined, nodeId: string): Binding[] {
  return Object.keys(variables?.variables ?? {}).map((name) =>
    create(BindingSchema, { var: name, binding: create(BindingDataSchema, { value: { case: "promise", value: { nodeId, var: name } } }) }),
  );
}
