import { referenceIn, attribute, makeReference, nodeIn, outputReferences } from "../graph/reference.js";
import type { Bound, InputRefs, Outputs, Refs } from "../graph/reference-type.js";
import { isRecord } from "../codec/primitive.js";
import { type AnyType, type Fields, withoutDefault } from "../type/type.js";
import { definitionOf } from "./definition.js";
import type { AnyEntity, Call, Entity, Workflow } from "./entity.js";
import { GraphError } from "./errors.js";
import type { NodeOptions } from "./settings.js";
import { workflow } from "./workflow.js";

interface Step {
  readonly call: (args: unknown, options: NodeOptions | undefined) => unknown;
  readonly args: unknown;
  readonly options: NodeOptions | undefined;
}

interface OutputValue {
  readonly type: AnyType;
  readonly value: unknown;
}

/**
 * Builds a workflow step by step, for graphs that a program composes. The steps are repeated when
 * the workflow is compiled.
 */
export class WorkflowBuilder<const I extends Fields = {}> {
  readonly inputs: InputRefs<I>;
  readonly #config: { readonly name: string; readonly inputs?: I };
  readonly #steps: Step[] = [];
  readonly #outputs = new Map<string, OutputValue>();

  constructor(config: { readonly name: string; readonly inputs?: I }) {
    this.#config = config;
    const inputs = Object.entries(config.inputs ?? {}).map(([name, type]) => {
      return [name, makeReference({ nodeId: "", variable: name, path: [], type: withoutDefault(type) })] as const;
    });
    this.inputs = Object.fromEntries(inputs) as InputRefs<I>;
  }

  /** Adds a node. */
  add<J extends Fields, O extends Outputs>(entity: Entity<J, O>, ...[args, options]: Call<J>): Refs<O> {
    const step = stepName(this.#steps.length);
    this.#steps.push({ call: entity as unknown as Step["call"], args, options });
    return outputReferences(definitionOf(entity), step) as Refs<O>;
  }

  output<T extends AnyType>(name: string, type: T, value: Bound<T>): this {
    if (this.#outputs.has(name)) throw new GraphError(`${this.#config.name} has two outputs named ${name}`);
    this.#outputs.set(name, { type, value });
    return this;
  }

  build(): Workflow<I, Fields> {
    const steps = [...this.#steps];
    const entries = [...this.#outputs];
    const outputs: Fields = Object.fromEntries(entries.map(([name, { type }]) => [name, type]));
    const { name } = this.#config;
    const inputs = this.#config.inputs ?? ({} as I);
    return workflow<I, Fields>({ name, inputs, outputs }, (() => {
      const made = new Map<string, unknown>();
      const real = (value: unknown): unknown => replaced(value, made);
      for (const [i, { call, args, options }] of steps.entries()) made.set(stepName(i), call(real(args), optionsOf(options, made)));
      return Object.fromEntries(entries.map(([output, { value }]) => [output, real(value)]));
    }) as never);
  }
}

const stepName = (index: number): string => `step ${index}`;

function optionsOf(options: NodeOptions | undefined, made: ReadonlyMap<string, unknown>): NodeOptions | undefined {
  if (options?.after === undefined) return options;
  return { ...options, after: options.after.map((value) => (made.get(nodeIn(value) ?? "") ?? value) as AnyEntity & typeof value) };
}

/** Replaces references to steps by those to the nodes that they became. */
function replaced(value: unknown, made: ReadonlyMap<string, unknown>): unknown {
  const source = referenceIn(value);
  if (source !== undefined) {
    const outputs = made.get(source.nodeId);
    if (outputs === undefined) return value;
    const whole = referenceIn(outputs) === undefined ? (outputs as Readonly<Record<string, unknown>>)[source.variable] : outputs;
    return source.path.reduce((found, step) => {
      const inside = referenceIn(found);
      if (inside === undefined) throw new GraphError(`${source.variable} is no output`);
      return attribute(inside, step);
    }, whole);
  }
  if (Array.isArray(value)) return value.map((item) => replaced(item, made));
  if (!isRecord(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, made)]));
}
