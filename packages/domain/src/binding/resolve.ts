import type { Binding, Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

export type BindingErrorCode = "BadSpecificationError" | "OutputsNotFoundError" | "PromiseAttributeResolveError" | "InvalidPrimitiveType";

export interface BindingError {
  readonly code: BindingErrorCode;
  /** Names the variable and the node that it was bound to. */
  readonly message: string;
}

/**
 * Exactly one of: the inputs; the nodes whose outputs are not there yet; offloaded literals that must be fetched before an
 * attribute path can enter them; an error of the specification or of the data.
 */
export type BoundInputs =
  | { readonly literals: LiteralMap }
  | { readonly missing: readonly string[] }
  | { readonly offloaded: readonly string[] }
  | { readonly error: BindingError };

export interface BindingSources {
  /** The content of an offloaded literal, by its URI; undefined while it is not fetched. */
  readonly offloaded?: (uri: string) => Literal | undefined;
  /** The name of the output behind an alias of a node, if there is one. */
  readonly unalias?: (nodeId: string, alias: string) => string | undefined;
}

/** Binds a node's inputs to the outputs of the nodes that they name. */
export function resolveBindings(
  _bindings: readonly Binding[],
  _outputOf: (nodeId: string) => LiteralMap | undefined,
  _sources: BindingSources = {},
): BoundInputs {
  throw new Error("not written yet");
}
