import { create } from "@bufbuild/protobuf";
import { type Binding, type BindingData, type Literal, type LiteralMap, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { OutputReference } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { START_NODE } from "../graph/reserved-nodes.js";
import { AttributeError, type AttributeErrorCode, resolveAttributes } from "../literal/attribute.js";
import { collectionLiteral, literalMap, mapLiteral } from "../literal/build.js";
import { MAX_NESTING } from "../type/nesting.js";
import { parseVariableName } from "./variable-name.js";

export type BindingErrorCode = "BadSpecificationError" | "OutputsNotFoundError" | AttributeErrorCode;

export interface BindingError {
  readonly code: BindingErrorCode;
  /** Names the variable and the node that it was bound to. */
  readonly message: string;
}

/**
 * Exactly one of: the inputs; the nodes whose outputs are missing; offloaded literals that must be
 * fetched before an attribute path can enter them; an error of the specification or of the data.
 */
export type BoundInputs =
  | { readonly literals: LiteralMap }
  | { readonly missing: readonly string[] }
  | { readonly offloaded: readonly string[] }
  | { readonly error: BindingError };

export interface BindingSources {
  /** Returns the content of an offloaded literal, by its URI; undefined until it is fetched. */
  readonly offloaded?: (uri: string) => Literal | undefined;
  /** Returns the output name behind a node's alias, if there is one. */
  readonly unalias?: (nodeId: string, alias: string) => string | undefined;
}

/**
 * Binds a node's inputs to the outputs of the nodes that they name. Bound values are parts of the
 * outputs, not copies: do not change them. Missing data is reported before errors, since only then
 * is all of the data known.
 */
export function resolveBindings(
  bindings: readonly Binding[],
  outputOf: (nodeId: string) => LiteralMap | undefined,
  sources: BindingSources = {},
): BoundInputs {
  const resolver = new Resolver(outputOf, sources);
  const inputs = bindings.map(({ var: name, binding }) => [name, resolver.bind(name, binding)] as const);
  if (resolver.missing.size > 0) return { missing: [...resolver.missing] };
  if (resolver.offloaded.size > 0) return { offloaded: [...resolver.offloaded] };
  if (resolver.error !== undefined) return { error: resolver.error };
  return { literals: literalMap(inputs.flatMap(([name, literal]) => (literal === undefined ? [] : [[name, literal] as const]))) };
}

/** Collects over all bindings of a node; the first error counts. */
class Resolver {
  readonly missing = new Set<string>();
  readonly offloaded = new Set<string>();
  error: BindingError | undefined;

  constructor(
    private readonly outputOf: (nodeId: string) => LiteralMap | undefined,
    private readonly sources: BindingSources,
  ) {}

  bind(name: string, data: BindingData | undefined, depth = 0): Literal | undefined {
    const value = data?.value;
    if (depth > MAX_NESTING) return this.fail("BadSpecificationError", name, `nests deeper than ${MAX_NESTING} levels`);
    switch (value?.case) {
      case "scalar":
      case "offloadedMetadata":
        return create(LiteralSchema, { value });
      case "collection":
        return collectionLiteral(value.value.bindings.flatMap((item) => this.bind(name, item, depth + 1) ?? []));
      case "map": {
        const entries = Object.entries(value.value.bindings);
        return mapLiteral(
          entries.flatMap(([key, item]) => {
            const literal = this.bind(name, item, depth + 1);
            return literal === undefined ? [] : [[key, literal] as const];
          }),
        );
      }
      case "promise":
        return this.promise(name, value.value);
      case undefined:
        return this.fail("BadSpecificationError", name, "has no binding");
    }
  }

  private promise(name: string, promise: OutputReference): Literal | undefined {
    const nodeId = promise.nodeId || START_NODE;
    const outputs = this.outputOf(nodeId);
    if (outputs === undefined) {
      this.missing.add(nodeId);
      return undefined;
    }
    const variable = parseVariableName(promise.var);
    const source = `output [${promise.var}] of node [${nodeId}]`;
    if (variable === undefined) return this.fail("BadSpecificationError", name, `is bound to ${source}, which is no name`);
    const output = this.sources.unalias?.(nodeId, variable.name) ?? variable.name;
    const literal = Object.hasOwn(outputs.literals, output) ? outputs.literals[output] : undefined;
    if (literal === undefined) return this.fail("OutputsNotFoundError", name, `is bound to ${source}, which is not among its outputs`);
    const element = variable.index === undefined ? literal : elementAt(literal, variable.index);
    if (element === undefined) return this.fail("OutputsNotFoundError", name, `is bound to ${source}, a list that is too short`);
    return this.attribute(name, element, promise);
  }

  private attribute(name: string, literal: Literal, { nodeId, var: output, attrPath }: OutputReference): Literal | undefined {
    if (attrPath.length === 0) return literal;
    try {
      const found = resolveAttributes(literal, attrPath, this.sources.offloaded);
      if ("$typeName" in found) return found;
      this.offloaded.add(found.uri);
      return undefined;
    } catch (error) {
      if (!(error instanceof AttributeError)) throw error;
      return this.fail(error.code, name, `is bound to output [${output}] of node [${nodeId || START_NODE}]: ${error.message}`);
    }
  }

  private fail(code: BindingErrorCode, name: string, reason: string): undefined {
    this.error ??= { code, message: `input [${name}] ${reason}` };
  }
}

function elementAt(literal: Literal, index: number): Literal | undefined {
  return literal.value.case === "collection" ? literal.value.value.literals[index] : undefined;
}
