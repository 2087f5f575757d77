import { type AnyType, described, type Fields, withoutDefault } from "../type/type.js";
import { t } from "../type/t.js";
import { GraphError } from "../entity/errors.js";
import { type Interface, SINGLE_OUTPUT } from "../entity/definition.js";

/** Content of a reference: an output of a node; a workflow input when `nodeId` is empty. */
export interface ReferenceSource {
  readonly nodeId: string;
  readonly variable: string;
  readonly path: readonly (string | number)[];
  readonly type: AnyType;
}

const sources = new WeakMap<object, ReferenceSource>();
/** Node of each result of a call: an object of references, or a node without outputs. */
const nodes = new WeakMap<object, string>();

/** Returns the content of a reference; undefined for other values. */
export function referenceIn(value: unknown): ReferenceSource | undefined {
  return typeof value === "object" && value !== null ? sources.get(value) : undefined;
}

/** Returns the node that a value stands for; undefined for other values. */
export function nodeIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  return sources.get(value)?.nodeId ?? nodes.get(value);
}

/** Makes a reference: a proxy whose properties are attributes. */
export function makeReference(source: ReferenceSource): object {
  const reference: object = new Proxy(Object.freeze(Object.create(null) as object), {
    get: (_target, key) => propertyOf(source, key),
    has: (_target, key) => typeof key === "string" && attributeType(source.type, key) !== undefined,
    set: () => {
      throw new GraphError(`${referenceText(source)} has no value that could be changed`);
    },
  });
  sources.set(reference, source);
  return reference;
}

/** Returns the attribute of a reference for a field whose name TypeScript or this SDK uses. */
export function attribute(source: ReferenceSource, key: string | number): object {
  const type = attributeType(source.type, String(key));
  if (type === undefined) throw new GraphError(`${referenceText(source)} has no attribute ${String(key)}`);
  return makeReference({ ...source, path: [...source.path, stepOf(source.type, String(key))], type });
}

function propertyOf(source: ReferenceSource, key: string | symbol): unknown {
  if (key === Symbol.toPrimitive || key === "toString" || key === "valueOf" || key === "toJSON") {
    return () => {
      throw new GraphError(`${referenceText(source)} has no value while the graph is built: give it to a task, or compare it with when()`);
    };
  }
  if (key === "then") {
    return () => {
      throw new GraphError(`${referenceText(source)} has no value yet: await belongs in eager()`);
    };
  }
  return typeof key === "symbol" ? undefined : attribute(source, key);
}

/** Formats a reference for messages. */
export function referenceText({ nodeId, variable, path }: ReferenceSource): string {
  return ["the reference", [nodeId === "" ? "inputs" : nodeId, variable, ...path].join(".")].join(" ");
}

/** Returns the type of an attribute; undefined when the type has none of this name. */
function attributeType(type: AnyType, key: string): AnyType | undefined {
  const shown = described(withoutDefault(type));
  switch (shown.kind) {
    case "object":
      return Object.hasOwn(shown.fields, key) ? withoutDefault(shown.fields[key] as AnyType) : undefined;
    case "list":
      return /^\d+$/.test(key) ? shown.element : undefined;
    case "map":
      return shown.element;
    case "schema":
      return attributeType(shown.shape.input, key);
    case "json":
      return t.json;
    case "optional":
      return shown.leavesOut === true ? attributeType(shown.inner, key) : undefined;
    default:
      return undefined;
  }
}

/** An index of a list is a number; a key of a map or object a text. */
function stepOf(type: AnyType, key: string): string | number {
  const shown = described(withoutDefault(type));
  const isList = shown.kind === "list" || (shown.kind === "schema" && shown.shape.input.kind === "list");
  return (isList || shown.kind === "json") && /^\d+$/.test(key) ? Number(key) : key;
}

/** Makes the outputs of a node as its caller sees them. */
export function outputReferences({ outputs, single }: Pick<Interface, "outputs" | "single">, nodeId: string): object {
  const entries = Object.entries(outputs).map(([variable, type]) => {
    return [variable, makeReference({ nodeId, variable, path: [], type: withoutDefault(type) })] as const;
  });
  const references = Object.fromEntries(entries);
  const only = references[SINGLE_OUTPUT];
  return single && only !== undefined ? only : nodeHandle(nodeId, references);
}

/** Makes an object that stands for a node. */
export function nodeHandle(nodeId: string, references: Readonly<Record<string, object>> = {}): object {
  const handle = Object.freeze({ ...references });
  nodes.set(handle, nodeId);
  return handle;
}

/** Makes the references to the inputs of a workflow. */
export function inputReferences(inputs: Fields): Readonly<Record<string, object>> {
  return outputReferences({ outputs: inputs, single: false }, "") as Readonly<Record<string, object>>;
}
