import { ArrayNode_DataMode as DataMode, ArrayNode_ExecutionMode as ExecutionMode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { type Definition, definitionOf, shownName } from "../entity/definition.js";
import type { Entity } from "../entity/entity.js";
import { GraphError } from "../entity/errors.js";
import type { NodeOptions } from "../entity/settings.js";
import { t } from "../type/t.js";
import { type AnyType, type Fields, type List, mayBeAbsent, type Optional, withoutDefault } from "../type/type.js";
import { bindAll } from "./binding.js";
import { currentGraph, type Graph } from "./graph.js";
import { makeNode, metadataOf, nodeMetadata, type NodeTarget, overridesOf, targetOf } from "./node.js";
import { outputReferences } from "./reference.js";
import type { Args, Bound, Outputs, Reference, Refs } from "./reference-type.js";

/** Lists of values for inputs, one for each item. */
export type Lists<I extends Fields, K extends keyof I> = { readonly [P in K]: Reference<List<I[P]>> | readonly Bound<I[P]>[] };

/** Outputs of all items; failed items, where some may fail, give null. */
export type Collected<O, R> = O extends AnyType
  ? List<Tolerated<O, R>>
  : O extends Fields
    ? { readonly [K in keyof O]: List<Tolerated<O[K], R>> }
    : undefined;
type Tolerated<T extends AnyType, R> = R extends number ? Optional<T> : T;

export interface EachSettings<R extends number | undefined> extends NodeOptions {
  /** Items that run at a time; default: as many as the execution may. */
  readonly concurrency?: number;
  /** Items that must succeed; the outputs of failed ones are null. */
  readonly minSuccesses?: R;
  readonly minSuccessRatio?: R;
}

/** Inputs that are the same for each item. */
type Same<I extends Fields> = {} extends Args<I> ? { readonly same?: Args<I> } : { readonly same: Args<I> };
type EachOptions<I extends Fields, K extends keyof I, R extends number | undefined> = EachSettings<R> & Same<Omit<I, K>>;

/** Adds a node with as many items as the lists are long. */
export function each<I extends Fields, O extends Outputs, K extends keyof I, R extends number | undefined = undefined>(
  of: Entity<I, O>,
  lists: Lists<I, K>,
  ...[options]: {} extends Args<Omit<I, K>> ? [options?: EachOptions<I, K, R>] : [options: EachOptions<I, K, R>]
): Refs<Collected<O, R>> {
  return addArrayNode(definitionOf(of), lists, (options ?? {}) as ArrayOptions) as Refs<Collected<O, R>>;
}

type ArrayOptions = EachSettings<number | undefined> & { readonly same?: Readonly<Record<string, unknown>> };

function addArrayNode(definition: Definition, lists: Readonly<Record<string, unknown>>, options: ArrayOptions): object {
  const graph = currentGraph("each()");
  const same = inputsForAll(definition, lists, options.same ?? {});
  const bound = Object.keys(same).sort();
  const ratio = options.minSuccessRatio;
  const tolerant = (ratio !== undefined && ratio < 1) || options.minSuccesses !== undefined;
  const id = graph.reserveId(options.name);
  const fields = Object.entries(definition.inputs).map(([name, type]) => {
    return [name, Object.hasOwn(lists, name) ? t.list(withoutDefault(type)) : type] as const;
  });
  const inputs = bindAll(Object.fromEntries(fields), { ...same, ...lists });
  const form = formOf(definition, graph, { bound, tolerant, options });
  const metadata = metadataOf(definition, graph.compilation, options);
  const node = { ...makeNode({ id, inputs, metadata, target: form.target }), upstreamNodeIds: [] };
  const successCriteria =
    options.minSuccesses === undefined
      ? { case: "minSuccessRatio" as const, value: ratio ?? 1 }
      : { case: "minSuccesses" as const, value: options.minSuccesses };
  graph.add(
    makeNode({
      id,
      inputs,
      after: options.after,
      // Attempts and times are those of the items.
      metadata: nodeMetadata(metadata.name, {}),
      target: {
        case: "arrayNode",
        value: {
          node,
          parallelismOption: { case: "parallelism", value: options.concurrency ?? 0 },
          successCriteria,
          executionMode: form.executionMode,
          dataMode: form.dataMode,
          isOriginalSubNodeInterface: form.original,
          boundInputs: bound,
        },
      },
    }),
  );
  return outputReferences({ outputs: listOutputs(definition, tolerant), single: definition.single }, id);
}

function listOutputs({ outputs }: Definition, tolerant: boolean): Fields {
  const lists = Object.entries(outputs).map(([name, type]) => {
    const element = withoutDefault(type);
    return [name, t.list(tolerant && element.kind !== "optional" ? t.optional(element) : element)] as const;
  });
  return Object.fromEntries(lists);
}

/** Checks that each input is given once: as a list or for all items. */
function inputsForAll(
  definition: Definition,
  lists: Readonly<Record<string, unknown>>,
  same: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { inputs } = definition;
  const name = shownName(definition);
  if (Object.keys(lists).length === 0) throw new GraphError(`each() over ${name} needs a list of values for one input at least`);
  for (const given of [...Object.keys(lists), ...Object.keys(same)])
    if (!Object.hasOwn(inputs, given)) throw new GraphError(`${name} has no input ${given}`);
  const further = Object.entries(inputs).filter(([input]) => !Object.hasOwn(lists, input));
  const missing = further.find(([input, type]) => same[input] === undefined && !mayBeAbsent(type));
  if (missing !== undefined) throw new GraphError(`each() over ${name} needs the input ${missing[0]}, as a list or in same`);
  const isPlan = definition.kind === "launchplan" || (definition.kind === "reference" && definition.address.kind === "launchplan");
  return Object.fromEntries(further.filter(([input]) => !isPlan || same[input] !== undefined).map(([input]) => [input, same[input]]));
}

interface ArrayForm {
  readonly target: NodeTarget;
  /** The node has the interface of one item, not lists. */
  readonly original: boolean;
  readonly executionMode: ExecutionMode;
  readonly dataMode: DataMode;
}

/**
 * Returns the form of the inner node. A task of this SDK is mapped by a task of its own, with an
 * interface of lists, as flytekit does: Flyte 1.16 takes no other form.
 */
function formOf(
  definition: Definition,
  graph: Graph,
  { bound, tolerant, options }: { readonly bound: readonly string[]; readonly tolerant: boolean; readonly options: ArrayOptions },
): ArrayForm {
  if (definition.kind === "task") {
    if (definition.execution.form !== "function")
      throw new GraphError(
        `each() maps tasks with a function and launch plans; ${shownName(definition)} is a ${definition.execution.form} task`,
      );
    const id = graph.compilation.useMapTask(definition, bound, tolerant);
    graph.compilation.useTask(definition);
    const target = {
      case: "taskNode" as const,
      value: { reference: { case: "referenceId" as const, value: id }, overrides: overridesOf(options) },
    };
    return { target, original: false, executionMode: ExecutionMode.MINIMAL_STATE, dataMode: DataMode.SINGLE_INPUT_FILE };
  }
  if (definition.kind === "workflow")
    throw new GraphError(`each() maps tasks and launch plans: make a launch plan of ${shownName(definition)}`);
  const target = targetOf(definition, graph, options);
  const isTask = target?.case === "taskNode";
  return {
    target,
    original: true,
    executionMode: isTask ? ExecutionMode.MINIMAL_STATE : ExecutionMode.FULL_STATE,
    dataMode: isTask ? DataMode.INDIVIDUAL_INPUT_FILES : DataMode.SINGLE_INPUT_FILE,
  };
}
