import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Binding, type BindingData, BindingDataSchema, BindingSchema, type Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { PromiseAttributeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { encodeValue } from "../codec/encode.js";
import { graphEncoding } from "../codec/encoding.js";
import { fieldOf, itemOf, type Place, rootPlace } from "../codec/place.js";
import { isRecord } from "../codec/primitive.js";
import { GraphError } from "../entity/errors.js";
import { type AnyType, described, type Fields } from "../type/type.js";
import { type ReferenceSource, referenceIn } from "./reference.js";
import { recordType } from "./type-recorder.js";

/** Binds an input of a node: to a reference, a value, or a list or map with references inside. */
export function bind(name: string, type: AnyType, value: unknown): Binding {
  return create(BindingSchema, { var: name, binding: bindingData(type, value, rootPlace(name)) });
}

/** Binds all inputs in order of name, as flytekit does. */
export function bindAll(fields: Fields, values: Readonly<Record<string, unknown>>): Binding[] {
  return Object.keys(values)
    .sort()
    .map((name) => bind(name, fields[name] as AnyType, values[name]));
}

/** Binds an input to an output of a node. */
export function bindReference(name: string, source: ReferenceSource): Binding {
  return create(BindingSchema, { var: name, binding: promise(source) });
}

function bindingData(type: AnyType, value: unknown, place: Place): BindingData {
  const source = referenceIn(value);
  if (source !== undefined) return promise(source);
  if (!containsReference(value)) return constant(encodeValue(type, value, graphEncoding, place));
  const shown = described(type);
  switch (shown.kind) {
    case "default":
      return bindingData(shown.inner, value, place);
    case "list":
      if (Array.isArray(value)) {
        const bindings = value.map((item, i) => bindingData(shown.element, item, itemOf(place, i)));
        return create(BindingDataSchema, { value: { case: "collection", value: { bindings } } });
      }
      break;
    case "map":
      if (isRecord(value)) {
        const entries = Object.entries(value).map(([key, item]) => [key, bindingData(shown.element, item, fieldOf(place, key))] as const);
        return create(BindingDataSchema, { value: { case: "map", value: { bindings: Object.fromEntries(entries) } } });
      }
      break;
    default:
      break;
  }
  throw new GraphError(
    `${place.text} contains a reference inside of a value of the type ${shown.kind}; lists and maps may hold references, an object is made by a task`,
  );
}

function promise(source: ReferenceSource): BindingData {
  recordType(source);
  const { nodeId, variable, path } = source;
  const attrPath = path.map((step): MessageInitShape<typeof PromiseAttributeSchema> => {
    return { value: typeof step === "number" ? { case: "intValue", value: step } : { case: "stringValue", value: step } };
  });
  return create(BindingDataSchema, { value: { case: "promise", value: { nodeId, var: variable, attrPath } } });
}

function constant(literal: Literal): BindingData {
  const { value } = literal;
  switch (value.case) {
    case "scalar":
      return create(BindingDataSchema, { value: { case: "scalar", value: value.value } });
    case "collection": {
      const bindings = value.value.literals.map(constant);
      return create(BindingDataSchema, { value: { case: "collection", value: { bindings } } });
    }
    case "map": {
      const entries = Object.entries(value.value.literals).map(([key, item]) => [key, constant(item)] as const);
      return create(BindingDataSchema, { value: { case: "map", value: { bindings: Object.fromEntries(entries) } } });
    }
    case "offloadedMetadata":
    case undefined:
      throw new GraphError("a constant of a graph cannot be offloaded");
  }
}

function containsReference(value: unknown): boolean {
  if (referenceIn(value) !== undefined) return true;
  if (Array.isArray(value)) return value.some(containsReference);
  return isRecord(value) && Object.getPrototypeOf(value) === Object.prototype && Object.values(value).some(containsReference);
}

/** Lists the nodes that bindings refer to, each once, in order of appearance. */
export function upstreamOf(bindings: readonly Binding[]): readonly string[] {
  const found = new Set<string>();
  for (const { binding } of bindings) collectUpstream(binding, found);
  found.delete("");
  return [...found];
}

function collectUpstream(data: BindingData | undefined, found: Set<string>): void {
  const value = data?.value;
  if (value?.case === "promise") found.add(value.value.nodeId);
  if (value?.case === "collection") for (const item of value.value.bindings) collectUpstream(item, found);
  if (value?.case === "map") for (const item of Object.values(value.value.bindings)) collectUpstream(item, found);
}
