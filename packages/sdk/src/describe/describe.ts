import { create } from "@bufbuild/protobuf";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { LaunchPlanSpec } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { type TaskSpec, TaskSpecSchema } from "@flyte-ts/idl/flyteidl/admin/task_pb";
import { type WorkflowSpec, WorkflowSpecSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { definitionOf, type TaskDefinition, type WorkflowDefinition } from "../entity/definition.js";
import type { AnyEntity } from "../entity/entity.js";
import { GraphError } from "../entity/errors.js";
import { Compilation } from "../graph/compilation.js";
import { buildWorkflow } from "../graph/workflow-graph.js";
import type { Collection } from "./collection.js";
import { defaultLaunchPlan, launchPlanSpec } from "./launch-plan-spec.js";
import { identify, type Registration, type TaskLocation } from "./registration.js";
import { taskTemplate } from "./task-template.js";

export interface LaunchPlanDescription {
  readonly id: Identifier;
  readonly spec: LaunchPlanSpec;
  /** True when it asks to be active at once. */
  readonly active: boolean;
}

/** Everything that a registration creates, in the order of creation. */
export interface Description {
  readonly tasks: readonly TaskSpec[];
  readonly workflows: readonly WorkflowSpec[];
  readonly launchPlans: readonly LaunchPlanDescription[];
}

/** Describes the entities of a collection, and those that their graphs use. */
export function describeEntities(collection: Collection, registration: Registration): Description {
  const compilation = new Compilation(registration, buildWorkflow);
  const locations = new Map<TaskDefinition, TaskLocation>();
  const workflows = new Map<AnyEntity, WorkflowDefinition>();
  for (const { definition, module, exportName } of collection.entities) {
    if (definition.kind === "task") {
      compilation.useTask(definition);
      locations.set(definition, { module, exportName });
    }
  }
  for (const { definition, module } of collection.entities) {
    const workflow = definition.kind === "launchplan" ? workflowOf(definition.workflow) : definition;
    if (definition.kind === "launchplan") compilation.useLaunchPlan(definition);
    if (workflow.kind !== "workflow") continue;
    workflows.set(workflow.entity, workflow);
    compilation.workflow(workflow);
    // A task that is named but not exported is found again through this module.
    for (const [name, task] of compilation.tasks) if (!locations.has(task)) locations.set(task, { module, exportName: name });
  }
  return {
    tasks: describeTasks(compilation, locations),
    workflows: [...workflows.values()].map((workflow) => describeWorkflow(workflow, compilation)),
    launchPlans: describeLaunchPlans([...workflows.values()], compilation),
  };
}

function workflowOf(entity: AnyEntity): WorkflowDefinition {
  const definition = definitionOf(entity);
  if (definition.kind !== "workflow") throw new GraphError("a launch plan needs a workflow of this project");
  return definition;
}

function describeTasks(compilation: Compilation, locations: ReadonlyMap<TaskDefinition, TaskLocation>): TaskSpec[] {
  return taskTemplates(compilation, (task) => locations.get(task)).map((template) => create(TaskSpecSchema, { template }));
}

/** Returns the templates of all tasks of a compilation, also of those that map others. */
export function taskTemplates(compilation: Compilation, locate: (task: TaskDefinition) => TaskLocation | undefined): TaskTemplate[] {
  const { registration } = compilation;
  const location = (name: string, task: TaskDefinition): TaskLocation => locate(task) ?? { module: "", exportName: name };
  const plain = [...compilation.tasks].map(([name, definition]) => ({ name, definition, location: location(name, definition) }));
  const maps = [...compilation.mapTasks.values()].map((map) => {
    return { name: map.name, definition: map.task, location: location(map.taskName, map.task), map };
  });
  return [...plain, ...maps].map((description) => taskTemplate(description, registration));
}

function describeWorkflow(definition: WorkflowDefinition, compilation: Compilation): WorkflowSpec {
  const { template, subWorkflows } = compilation.workflow(definition);
  const shortDescription = definition.description;
  return create(WorkflowSpecSchema, {
    template,
    subWorkflows: [...subWorkflows],
    ...(shortDescription !== undefined && { description: { shortDescription } }),
  });
}

function describeLaunchPlans(workflows: readonly WorkflowDefinition[], compilation: Compilation): LaunchPlanDescription[] {
  const { registration } = compilation;
  const defaults = workflows.map((workflow) => {
    const name = compilation.name(workflow);
    return {
      id: identify(registration, ResourceType.LAUNCH_PLAN, name),
      spec: defaultLaunchPlan(workflow, name, registration),
      active: false,
    };
  });
  const own = [...compilation.launchPlans.values()].flatMap((definition) => {
    if (definition.kind === "reference") return [];
    const spec = launchPlanSpec(definition, compilation.name(workflowOf(definition.workflow)), registration);
    const id = compilation.id(definition, ResourceType.LAUNCH_PLAN);
    return [{ id, spec, active: definition.settings.active ?? false }];
  });
  return [...defaults, ...own];
}
