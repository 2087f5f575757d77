import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type TaskTemplate, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { closureGraphs } from "../build/closure.js";
import type { GraphFields } from "../build/graph.js";
import type { NodeJson } from "../build/node.js";
import type { GraphModel, NodeTarget, PlatformResources, WorkflowModel } from "../model/model.js";
import { type GraphSource, parseGraph } from "./graph.js";
import { MAX_TASK_TYPE_LENGTH } from "../parse/malformed-resource.js";
import { type StreamedClosure, streamClosure } from "./stream-closure.js";
import { Field } from "../parse/field.js";

/**
 * Contents of a compiled closure: its own graph, and the tasks and sub-workflows that nodes
 * reference.
 */
export type ClosureModel = Pick<WorkflowModel, "root" | "tasks" | "subWorkflows">;

/**
 * Parses a compiled closure as the resource of an execution of it would be parsed. Yields between
 * parts of a large one.
 * @throws WorkflowBuildError or WorkflowFormatError when the closure is incomplete or not compiled.
 */
export function parseClosure(closure: CompiledWorkflowClosure, platform: PlatformResources): Generator<void, ClosureModel> {
  return parseGraphs(closureSource({ closure, nodes: closure.primary?.template?.nodes ?? [] }, platform));
}

/**
 * Parses the bytes of the closure that a resource references. Yields between parts of a large one.
 * @throws WorkflowBuildError or WorkflowFormatError when they are no closure, or an incomplete or
 *   uncompiled one.
 */
export function* parseEncodedClosure(bytes: Uint8Array, platform: PlatformResources): Generator<void, ClosureModel> {
  return yield* parseGraphs(closureSource(streamClosure(bytes, new Field({}, "workflowClosureReference")), platform));
}

/** Graphs of a resource, taken from the resource itself or from the closure that it references. */
interface ClosureSource {
  readonly spec: GraphSource;
  readonly tasks: Field;
  /** By key. */
  readonly subWorkflows: ReadonlyMap<string, GraphSource>;
}

/**
 * Converts a closure's graphs to the form of the resource; nodes are converted one by one, as they
 * are read.
 */
function closureSource({ closure, nodes }: StreamedClosure, platform: PlatformResources): ClosureSource {
  const { spec, tasks, subWorkflows } = closureGraphs(closure, platform, { bindings: "message", nodes });
  const root = new Field({}, "closure");
  const subWorkflowsField = new Field({}, "subWorkflows", root);
  return {
    spec: graphSource(spec, "spec", root),
    tasks: new Field(tasks, "tasks", root),
    subWorkflows: new Map([...subWorkflows].map(([key, parts]) => [key, graphSource(parts, key, subWorkflowsField)])),
  };
}

function graphSource({ header, nodes }: GraphFields, key: string, parent: Field): GraphSource {
  const graph = new Field(header, key, parent);
  return { graph, nodes: nodeFields(nodes, new Field({}, "nodes", graph)) };
}

function* nodeFields(nodes: Iterable<NodeJson>, parent: Field): Generator<readonly [string, Field]> {
  for (const node of nodes) yield [node.id, new Field(node, node.id, parent)];
}

/** Ensures that every reference of a node exists. Yields between parts of a large graph. */
export function* parseGraphs({ spec, tasks, subWorkflows }: ClosureSource): Generator<void, ClosureModel> {
  const taskTargets = tasks.entries().map(([task]): [string, NodeTarget] => [task, { kind: "task", task }]);
  const targets = { tasks: new Map(taskTargets), subWorkflows: new Set(subWorkflows.keys()) };
  const root = yield* parseGraph(spec, targets);
  const subWorkflowModels = new Map<string, GraphModel>();
  for (const [key, source] of subWorkflows) subWorkflowModels.set(key, yield* parseGraph(source, targets));
  return { root, subWorkflows: subWorkflowModels, tasks: new Map(tasks.entries().map(([key, field]) => [key, parseTask(field)])) };
}

function parseTask(field: Field): TaskTemplate {
  const task = field.message(TaskTemplateSchema);
  if (task.type.length > MAX_TASK_TYPE_LENGTH)
    throw field.at("type").error(`must be a task type of at most ${MAX_TASK_TYPE_LENGTH} characters, has ${task.type.length}`);
  return task;
}
