import { resolveBindings } from "@flyte-ts/domain/binding";
import type { DynamicJobSpec } from "@flyte-ts/idl/flyteidl/core/dynamic_job_pb";
import { create } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { decodeInputs, encodeOutputs, InvalidInput } from "../codec/interface-values.js";
import { withChildLimit } from "../entity/children.js";
import { type Context, withContext } from "../entity/context.js";
import { shownName, type TaskDefinition } from "../entity/definition.js";
import { GraphError } from "../entity/errors.js";
import type { FileStore } from "../file/file.js";
import { Compilation } from "../graph/compilation.js";
import { buildWorkflow } from "../graph/workflow-graph.js";
import type { Collection } from "./collection.js";
import { buildDynamicJob } from "./dynamic-job.js";
import type { Registration, TaskLocation } from "./registration.js";

export interface TaskRun {
  readonly inputs: LiteralMap;
  readonly files: FileStore;
  readonly context: Context;
  /** Needed by dynamic tasks: the versions of the tasks of their graphs. */
  readonly registration?: Registration;
  /** Needed by dynamic tasks: where the tasks of their graphs are found. */
  readonly collection?: Collection;
  /** Compilation that a dynamic task adds to; default: one of its own. */
  readonly compilation?: Compilation;
}

export type TaskResult = { readonly outputs: LiteralMap } | { readonly futures: DynamicJobSpec };

/**
 * Runs the function of a task: decodes its inputs, encodes its outputs, and writes the files of
 * these.
 *
 * @throws InvalidInput, InvalidOutput, or the error of the function
 */
export async function runTask(definition: TaskDefinition, run: TaskRun): Promise<TaskResult> {
  const { execution } = definition;
  if (execution.form === "container" || execution.form === "connector")
    throw new GraphError(`${shownName(definition)} is a ${execution.form} task: it has no function that runs in this process`);
  const { files, context } = run;
  const inputs = await decodeInputs(definition, run.inputs, files);
  if (execution.form === "dynamic") {
    const compilation = run.compilation ?? newCompilation(definition, run.registration);
    const build = (): unknown => withContext(context, () => execution.fn(inputs, context));
    const futures = buildDynamicJob(definition, build, compilation, locator(run.collection));
    // The server refuses a graph without nodes.
    return futures.nodes.length === 0 ? { outputs: constantOutputs(definition, futures) } : { futures };
  }
  const call = (): unknown => withContext(context, () => execution.fn(inputs, context));
  const limit = execution.form === "eager" ? execution.concurrency : undefined;
  const result = await (limit === undefined ? call() : withChildLimit(limit, call));
  return { outputs: await encodeOutputs(definition, result, files) };
}

function constantOutputs(definition: TaskDefinition, { outputs }: DynamicJobSpec): LiteralMap {
  const bound = resolveBindings(outputs, () => undefined);
  if ("literals" in bound) return bound.literals;
  throw new GraphError(`the dynamic task ${shownName(definition)} adds no node, and returns no constants`);
}

function newCompilation(definition: TaskDefinition, registration: Registration | undefined): Compilation {
  if (registration === undefined)
    throw new GraphError(`the dynamic task ${shownName(definition)} needs the registration that it belongs to`);
  return new Compilation(registration, buildWorkflow);
}

function locator(collection: Collection | undefined): (task: TaskDefinition) => TaskLocation | undefined {
  const locations = new Map<unknown, TaskLocation>();
  for (const { definition, module, exportName } of collection?.entities ?? []) locations.set(definition, { module, exportName });
  return (task) => locations.get(task);
}

/** Takes the inputs of one item: elements of lists, and inputs that are the same for all. */
export function elementInputs(inputs: LiteralMap, index: number, bound: readonly string[]): LiteralMap {
  const literals = Object.entries(inputs.literals).map(([name, literal]) => {
    if (bound.includes(name)) return [name, literal] as const;
    const element = literal.value.case === "collection" ? literal.value.value.literals[index] : undefined;
    if (element === undefined) throw new InvalidInput(`input ${name} has no item ${index}`);
    return [name, element] as const;
  });
  return create(LiteralMapSchema, { literals: Object.fromEntries(literals) });
}
