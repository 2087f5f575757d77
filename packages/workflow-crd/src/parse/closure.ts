import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { buildClosure } from "../build/closure.js";
import type { PlatformResources } from "../build/task-resources.js";
import type { NodeTarget, WorkflowModel } from "../model.js";
import { parseGraph } from "./graph.js";
import { Field } from "./read.js";

/** What a compiled closure defines: its own graph, and what the nodes may name. */
export type ClosureModel = Pick<WorkflowModel, "root" | "tasks" | "subWorkflows">;

/**
 * Reads a compiled closure as the resource of an execution of it would be read.
 * @throws WorkflowBuildError or WorkflowFormatError when the closure is not a whole, compiled one.
 */
export function parseClosure(closure: CompiledWorkflowClosure, platform: PlatformResources): ClosureModel {
  const { spec, tasks, subWorkflows } = buildClosure(closure, platform, "kept");
  const built = new Field({ spec, tasks, subWorkflows }, "closure");
  return parseGraphs({ spec: built.at("spec"), tasks: built.at("tasks"), subWorkflows: built.at("subWorkflows") });
}

export interface GraphFields {
  readonly spec: Field;
  readonly tasks: Field;
  readonly subWorkflows: Field;
}

/** Whatever a node names is there. */
export function parseGraphs({ spec, tasks, subWorkflows }: GraphFields): ClosureModel {
  const targets = tasks.entries().map(([task]): [string, NodeTarget] => [task, { kind: "task", task }]);
  const known = { tasks: new Map(targets), subWorkflows: new Set(subWorkflows.entries().map(([key]) => key)) };
  return {
    root: parseGraph(spec, known),
    subWorkflows: new Map(subWorkflows.entries().map(([key, field]) => [key, parseGraph(field, known)])),
    tasks: new Map(tasks.entries().map(([key, field]) => [key, field.message(TaskTemplateSchema)])),
  };
}
