import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type TaskTemplate, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { closureParts } from "../build/closure.js";
import type { GraphParts } from "../build/graph.js";
import type { NodeJson } from "../build/node.js";
import type { GraphModel, NodeTarget, PlatformResources, WorkflowModel } from "../model.js";
import { type GraphForm, parseGraph } from "./graph.js";
import { LONGEST_TASK_TYPE } from "./lenient.js";
import { type OpenClosure, openClosure } from "./open-closure.js";
import { Field } from "./read.js";

/** Contents of a compiled closure: its own graph, and the tasks and sub-workflows that nodes reference. */
export type ClosureModel = Pick<WorkflowModel, "root" | "tasks" | "subWorkflows">;

/**
 * Parses a compiled closure as the resource of an execution of it would be parsed. Yields between parts of a large one.
 * @throws WorkflowBuildError or WorkflowFormatError when the closure is incomplete or not compiled.
 */
export function parseClosure(closure: CompiledWorkflowClosure, platform: PlatformResources): Generator<void, ClosureModel> {
  return parseGraphs(closureForm({ closure, nodes: closure.primary?.template?.nodes ?? [] }, platform));
}

/**
 * Parses the bytes of the closure that a resource references. Yields between parts of a large one.
 * @throws WorkflowBuildError or WorkflowFormatError when they are no closure, or an incomplete or uncompiled one.
 */
export function* parseEncodedClosure(bytes: Uint8Array, platform: PlatformResources): Generator<void, ClosureModel> {
  return yield* parseGraphs(closureForm(openClosure(bytes, new Field({}, "workflowClosureReference")), platform));
}

/** Graphs of a resource, from itself or from the closure that it references. */
interface ClosureForm {
  readonly spec: GraphForm;
  readonly tasks: Field;
  /** By key. */
  readonly subWorkflows: ReadonlyMap<string, GraphForm>;
}

/** Converts a closure's graphs to the form of the resource; nodes are converted one by one, as they are read. */
function closureForm({ closure, nodes }: OpenClosure, platform: PlatformResources): ClosureForm {
  const { spec, tasks, subWorkflows } = closureParts(closure, platform, { bindings: "kept", nodes });
  const root = new Field({}, "closure");
  const below = new Field({}, "subWorkflows", root);
  return {
    spec: formOf(spec, "spec", root),
    tasks: new Field(tasks, "tasks", root),
    subWorkflows: new Map([...subWorkflows].map(([key, parts]) => [key, formOf(parts, key, below)])),
  };
}

function formOf({ rest, nodes }: GraphParts, key: string, parent: Field): GraphForm {
  const graph = new Field(rest, key, parent);
  return { graph, nodes: fieldsOf(nodes, new Field({}, "nodes", graph)) };
}

function* fieldsOf(nodes: Iterable<NodeJson>, parent: Field): Generator<readonly [string, Field]> {
  for (const node of nodes) yield [node.id, new Field(node, node.id, parent)];
}

/** Ensures that every reference of a node exists. Yields between parts of a large graph. */
export function* parseGraphs({ spec, tasks, subWorkflows }: ClosureForm): Generator<void, ClosureModel> {
  const targets = tasks.entries().map(([task]): [string, NodeTarget] => [task, { kind: "task", task }]);
  const known = { tasks: new Map(targets), subWorkflows: new Set(subWorkflows.keys()) };
  const root = yield* parseGraph(spec, known);
  const below = new Map<string, GraphModel>();
  for (const [key, form] of subWorkflows) below.set(key, yield* parseGraph(form, known));
  return { root, subWorkflows: below, tasks: new Map(tasks.entries().map(([key, field]) => [key, parseTask(field)])) };
}

function parseTask(field: Field): TaskTemplate {
  const task = field.message(TaskTemplateSchema);
  if (task.type.length > LONGEST_TASK_TYPE)
    throw field.at("type").error(`must be a task type of at most ${LONGEST_TASK_TYPE} characters, has ${task.type.length}`);
  return task;
}
