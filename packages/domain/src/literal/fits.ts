import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { type CastContext, isCastableWithin, newCastContext } from "../type/castable.js";
import { MAX_NESTING } from "../type/nesting.js";
import { literalTypeOf } from "./literal-type.js";

/**
 * True when a literal may be given for an input of this type: its own type is castable to that
 * type, or its elements are, with lists and maps checked element by element. A list of mixed
 * elements therefore fits wherever each of its elements does. A union literal's stated type is
 * trusted.
 */
export function literalFitsType(literal: Literal, type: LiteralType): boolean {
  const casting = newCastContext();
  const shown = literalTypeOf(literal);
  return (shown !== undefined && isCastableWithin(shown, type, casting)) || fits(literal, type, casting, 0);
}

function fits(literal: Literal, type: LiteralType, casting: CastContext, depth: number): boolean {
  if (depth > MAX_NESTING) return false;
  const expected = type.type;
  const elements = elementsOf(literal);
  if (elements === undefined) {
    const given = literalTypeOf(literal);
    return given !== undefined && isCastableWithin(given, type, casting);
  }
  if (expected.case === "unionType") {
    let found = 0;
    for (const variant of expected.value.variants) {
      if (fits(literal, variant, casting, depth + 1) && ++found > 1) return false;
    }
    return found === 1;
  }
  if (expected.case !== (literal.value.case === "map" ? "mapValueType" : "collectionType")) return false;
  return elements.every((element) => fits(element, expected.value as LiteralType, casting, depth + 1));
}

function elementsOf(literal: Literal): readonly Literal[] | undefined {
  switch (literal.value.case) {
    case "collection":
      return literal.value.value.literals;
    case "map":
      return Object.values(literal.value.value.literals);
    case "scalar":
    case "offloadedMetadata":
    case undefined:
      return undefined;
  }
}
