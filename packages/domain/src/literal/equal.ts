import { equals } from "@bufbuild/protobuf";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { MAX_NESTING, exceedsDepth } from "../type/nesting.js";

/** Levels of plain objects per level of literals: literal, oneof, collection, list. */
const LEVELS_PER_LITERAL = 4;

/**
 * True when two literals are the same message, including hash and metadata. Those with a NaN and
 * those nested deeper than MAX_NESTING equal none.
 */
export function literalsEqual(a: Literal, b: Literal): boolean {
  const limit = MAX_NESTING * LEVELS_PER_LITERAL;
  return a === b || (!exceedsDepth(a, limit) && !exceedsDepth(b, limit) && equals(LiteralSchema, a, b));
}
