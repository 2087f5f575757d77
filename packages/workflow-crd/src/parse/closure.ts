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

/** What a compiled closure defines: its own graph, and what the nodes may name. */
export type ClosureModel = Pick<WorkflowModel, "root" | "tasks" | "subWorkflows">;

/**
 * Reads a compiled closure as the resource of an execution of it would be read. Yields between parts of a large one.
 * @throws WorkflowBuildError or WorkflowFormatError when the closure is not a whole, compiled one.
 */
export function parseClosure(closure: CompiledWorkflowClosure, platform: PlatformResources): Generator<void, ClosureModel> {
  return parseGraphs(closureForm({ closure, nodes: closure.primary?.template?.nodes ?? [] }, platform));
}

/**
 * Reads the bytes of a closure that a resource names. Yields between parts of a large one.
 * @throws WorkflowBuildError or WorkflowFormatError when they are no closure, or one that is not whole or not compiled.
 */
export function* parseEncodedClosure(bytes: Uint8Array, platform: PlatformResources): Generator<void, ClosureModel> {
  return yield* parseGraphs(closureForm(openClosure(bytes, new Field({}, "workflowClosureReference")), platform));
}

/** What a resource says of its graphs, be it itself or by the closure that it names. */
interface ClosureForm {
  readonly spec: GraphForm;
  readonly tasks: Field;
  /** By key. */
  readonly subWorkflows: ReadonlyMap<string, GraphForm>;
}

/** A closure's graphs in the form of the resource; nodes are brought into it one by one, as they are read. */
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

/** Whatever a node names is there. Yields between parts of a large graph. */
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
