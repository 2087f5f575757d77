import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";

export type ArraySize = { readonly size: number } | { readonly error: ExecutionErrorJson };

/**
 * Computes the number of items: the length of the lists, which must agree. Bound inputs are the
 * same for all items and do not count; when all inputs are bound, one item runs.
 */
export function arraySize(inputs: LiteralMap, boundInputs: readonly string[]): ArraySize {
  let size: number | undefined;
  for (const name of Object.keys(inputs.literals).toSorted()) {
    const length = boundInputs.includes(name) ? undefined : lengthOf(inputs.literals[name]);
    if (length === undefined) continue;
    if (size !== undefined && size !== length) return invalid(`input arrays have different lengths: expecting '${size}' found '${length}'`);
    size = length;
  }
  if (size !== undefined) return { size };
  return boundInputs.length === Object.keys(inputs.literals).length ? { size: 1 } : invalid("no input array provided");
}

function lengthOf(literal: Literal | undefined): number | undefined {
  return literal?.value.case === "collection" ? literal.value.value.literals.length : undefined;
}

function invalid(message: string): ArraySize {
  return { error: { code: "InvalidArrayLength", kind: "USER", message } };
}
