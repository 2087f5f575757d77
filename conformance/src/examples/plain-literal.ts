import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/**
 * Converts a literal to a JavaScript value: primitives and lists of them. Other literals become the
 * name of their kind.
 */
export function plainLiteral(literal: Literal): unknown {
  if (literal.value.case === "collection") return literal.value.value.literals.map(plainLiteral);
  if (literal.value.case !== "scalar") return literal.value.case;
  const scalar = literal.value.value.value;
  if (scalar.case !== "primitive") return scalar.case;
  const value: unknown = scalar.value.value.value;
  return typeof value === "bigint" ? Number(value) : value;
}
