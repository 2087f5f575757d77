import { equals } from "@bufbuild/protobuf";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { MAX_NESTING, nestsDeeperThan } from "../type/nesting.js";

/** Levels of plain objects that one level of literals takes: literal, oneof, collection, list. */
const LEVELS_PER_LITERAL = 4;

/** Whether two literals are the same message, with hash and metadata. Those with a NaN and those nested deeper than MAX_NESTING are equal to none. */
export function literalsEqual(a: Literal, b: Literal): boolean {
  const limit = MAX_NESTING * LEVELS_PER_LITERAL;
  return a === b || (!nestsDeeperThan(a, limit) && !nestsDeeperThan(b, limit) && equals(LiteralSchema, a, b));
}
