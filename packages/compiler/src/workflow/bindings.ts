import { create } from "@bufbuild/protobuf";
import { parseVariableName } from "@flyte-ts/domain/binding";
import { scalarTypeOf } from "@flyte-ts/domain/literal";
import { isCastable, isNoneType, protoText, simpleType } from "@flyte-ts/domain/type";
import { VariableSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type Binding, type BindingData, BindingDataSchema, type Scalar } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  type LiteralType,
  LiteralTypeSchema,
  type OutputReference,
  SimpleType,
  type UnionType,
} from "@flyte-ts/idl/flyteidl/core/types_pb";
import { ErrorCollector } from "../error/collector.js";
import {
  ambiguousUnion,
  badVariableName,
  boundTwice,
  fieldNotFound,
  illegalEnumValue,
  incompatibleUnion,
  mismatchingBindings,
  mismatchingOutput,
  mismatchingTypes,
  nodeNotFound,
  notBound,
  type TypedName,
  unrecognizedValue,
  valueRequired,
  variableNotFound,
} from "../error/errors.js";
import type { NodeBuilder, Variables, WorkflowBuilder } from "./builder.js";

export interface BindingRules {
  /**
   * The node's inputs; undefined where the bindings themselves define them (branches, approvals).
   */
  readonly declared: Variables | undefined;
  /**
   * Edges that promises create: both directions, or upstream only for nodes that no path reaches.
   */
  readonly edges: "both" | "upstream";
}

/**
 * Checks that every input is bound once, to a value of its type, and links the node to its upstream
 * nodes. Inputs whose type is a union with None may stay unbound. A promise without a node is
 * changed to name the start node. Returns the bound inputs with the types of their values.
 */
export function checkBindings(
  workflow: WorkflowBuilder,
  consumer: NodeBuilder,
  bindings: readonly Binding[],
  rules: BindingRules,
): Variables {
  const { errors, graph } = workflow;
  const nodeId = consumer.node.id;
  const boundInputs = new Set<string>();
  const resolved: [string, LiteralType][] = [];
  for (const { var: name, binding } of bindings) {
    const variable = rules.declared?.get(name);
    if (rules.declared !== undefined && variable === undefined) {
      errors.add(variableNotFound(nodeId, name));
    } else if (binding === undefined) {
      errors.add(valueRequired(nodeId, "Binding"));
    } else if (boundInputs.has(name)) {
      errors.add(boundTwice(nodeId, name));
    } else {
      boundInputs.add(name);
      const expected = rules.declared === undefined ? undefined : (variable?.type ?? create(LiteralTypeSchema));
      const check = new BindingCheck(workflow, consumer, { name, errors });
      const type = check.data(binding, expected);
      if (type === undefined) continue;
      resolved.push([name, type]);
      for (const upstream of check.upstream) {
        if (rules.edges === "both") graph.addEdge(upstream, nodeId);
        else graph.addUpstream(upstream, nodeId);
      }
    }
  }
  for (const [name, { type }] of rules.declared ?? []) {
    if (!boundInputs.has(name) && !isOptional(type)) errors.add(notBound(nodeId, name));
  }
  return new Map(resolved.map(([name, type]) => [name, create(VariableSchema, { type })]));
}

function isOptional(type: LiteralType | undefined): boolean {
  return type?.type.case === "unionType" && type.type.value.variants.some(isNoneType);
}

interface BindingSite {
  readonly name: string;
  readonly errors: ErrorCollector;
}

/**
 * Checks one input's binding. `data` returns the type of the bound value, undefined after an error,
 * and collects its upstream nodes.
 */
class BindingCheck {
  readonly upstream: string[] = [];

  constructor(
    private readonly workflow: WorkflowBuilder,
    private readonly consumer: NodeBuilder,
    private readonly site: BindingSite,
  ) {}

  /** Without an expected type, any value with a type is accepted. */
  data(data: BindingData, expected: LiteralType | undefined): LiteralType | undefined {
    const { value } = data;
    if (value.case === "scalar") return this.scalar(value.value, expected);
    if (value.case === "promise") return this.promise(value.value, expected);
    if (expected?.type.case === "unionType") return this.union(data, expected, expected.type.value);
    if (value.case === "collection" && expected?.type.case === "collectionType") {
      return this.elements(value.value.bindings, expected, expected.type.value);
    }
    if (value.case === "map" && expected?.type.case === "mapValueType") {
      return this.elements(Object.values(value.value.bindings), expected, expected.type.value);
    }
    return this.fail(mismatchingBindings(this.nodeId, this.expectedName(expected), protoText(BindingDataSchema, data)));
  }

  private get nodeId(): string {
    return this.consumer.node.id;
  }

  private expectedName(type: LiteralType | undefined): TypedName {
    return { name: this.site.name, type };
  }

  private fail(error: Parameters<ErrorCollector["add"]>[0]): undefined {
    this.site.errors.add(error);
  }

  private elements(items: readonly BindingData[], expected: LiteralType, element: LiteralType): LiteralType | undefined {
    const ok = this.site.errors.addsNoErrors(() => {
      for (const item of items) this.data(item, element);
    });
    return ok ? expected : undefined;
  }

  /**
   * A literal list or map must fit exactly one variant. Errors of single variants are hidden: one
   * error replaces them.
   */
  private union(data: BindingData, expected: LiteralType, union: UnionType): LiteralType | undefined {
    let match: { readonly variant: LiteralType; readonly type: LiteralType; readonly upstream: readonly string[] } | undefined;
    for (const variant of union.variants) {
      const attempt = new BindingCheck(this.workflow, this.consumer, { name: this.site.name, errors: new ErrorCollector() });
      const type = attempt.data(data, variant);
      if (type === undefined) continue;
      if (match !== undefined) return this.fail(ambiguousUnion(this.nodeId, this.expectedName(expected), [match.variant, variant]));
      match = { variant, type, upstream: attempt.upstream };
    }
    if (match === undefined)
      return this.fail(incompatibleUnion(this.nodeId, this.expectedName(expected), protoText(BindingDataSchema, data)));
    for (const id of match.upstream) this.upstream.push(id);
    return match.type;
  }

  private scalar(scalar: Scalar, expected: LiteralType | undefined): LiteralType | undefined {
    const { name, errors } = this.site;
    const type = scalarTypeOf(scalar);
    return errors.addsNoErrors(() => {
      if (type === undefined)
        errors.add(unrecognizedValue(this.nodeId, scalar.value.case ?? "scalar", `is not a value for input [${name}]`));
      else if (expected !== undefined && !isCastable(type, expected)) errors.add(mismatchingTypes(this.nodeId, name, type, expected));
      if (expected?.type.case !== "enumType") return;
      const primitive = scalar.value.case === "primitive" ? scalar.value.value.value : undefined;
      const text = primitive?.case === "stringValue" ? primitive.value : "";
      const allowed = expected.type.value.values;
      if (!allowed.includes(text)) errors.add(illegalEnumValue(this.nodeId, name, text, allowed));
    })
      ? (type ?? simpleType(SimpleType.NONE))
      : undefined;
  }

  private promise(promise: OutputReference, expected: LiteralType | undefined): LiteralType | undefined {
    const { name, errors } = this.site;
    const source = this.workflow.nodeOf(promise.nodeId);
    if (source === undefined) {
      errors.add(nodeNotFound(promise.nodeId));
      return this.fail(notBound(this.nodeId, name));
    }
    const variable = parseVariableName(promise.var);
    if (variable === undefined) return this.fail(badVariableName(this.nodeId, promise.var));
    const outputs = source.effectiveOutputs(errors);
    if (outputs === undefined) return this.fail(notBound(this.nodeId, name));
    const output = outputs.get(variable.name);
    if (output === undefined) {
      errors.add(variableNotFound(source.node.id, variable.name));
      return this.fail(notBound(this.nodeId, name));
    }
    const from = qualified(source, promise.var);
    const to = { name: qualified(this.consumer, name), type: expected };
    const element = variable.index === undefined ? output.type : elementOf(output.type, "collectionType");
    if (element === undefined) return this.fail(mismatchingOutput(this.nodeId, { name: from, type: output.type }, to));
    const type = this.attribute(element, promise);
    if (type === undefined) return undefined;
    if (expected !== undefined && !isCastable(type, expected)) return this.fail(mismatchingOutput(this.nodeId, { name: from, type }, to));
    promise.nodeId = source.node.id;
    this.upstream.push(source.node.id);
    return type;
  }

  /**
   * Returns the type at the end of an attribute path. A type that does not define its content is
   * also the type of its parts.
   */
  private attribute(type: LiteralType, promise: OutputReference): LiteralType | undefined {
    let match = type;
    for (const { value } of promise.attrPath) {
      const element = elementOf(match, "collectionType") ?? elementOf(match, "mapValueType");
      const fields = match.structure?.dataclassType ?? {};
      if (element !== undefined) {
        match = element;
      } else if (Object.keys(fields).length > 0) {
        const key = value.case === "stringValue" ? value.value : String(value.value ?? "");
        const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
        if (field === undefined) return this.fail(fieldNotFound(this.nodeId, { name: promise.var, type: match }, key));
        match = field;
      }
    }
    return match;
  }
}

function elementOf(type: LiteralType | undefined, kind: "collectionType" | "mapValueType"): LiteralType | undefined {
  return type?.type.case === kind ? type.type.value : undefined;
}

/** A variable with its node's name, in the user's terms. */
function qualified({ node }: NodeBuilder, variable: string): string {
  return node.metadata === undefined ? variable : `${node.metadata.name}.${variable}`;
}
