import { clone, create, toJson } from "@bufbuild/protobuf";
import {
  LiteralCollectionSchema,
  type Literal,
  LiteralMapSchema,
  LiteralSchema,
  type LiteralMap,
} from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { objectHash } from "./object-hash.js";

/**
 * Hash of a task's inputs, base64url without padding: a literal with a hash of its own is
 * represented by it, ignored inputs are left out.
 */
export function hashInputs(inputs: LiteralMap, ignored: readonly string[] = []): string {
  const literals = Object.entries(inputs.literals).filter(([name]) => !ignored.includes(name));
  const counted = create(LiteralMapSchema, {
    literals: Object.fromEntries(literals.map(([name, literal]) => [name, hashableForm(literal)])),
  });
  return objectHash(toJson(LiteralMapSchema, counted)).toString("base64url");
}

function hashableForm(literal: Literal): Literal {
  const { hash, value } = literal;
  if (hash !== "") return create(LiteralSchema, { hash });
  switch (value.case) {
    case "collection": {
      const literals = value.value.literals.map(hashableForm);
      return create(LiteralSchema, { value: { case: "collection", value: create(LiteralCollectionSchema, { literals }) } });
    }
    case "map": {
      const literals = Object.fromEntries(Object.entries(value.value.literals).map(([key, item]) => [key, hashableForm(item)]));
      return create(LiteralSchema, { value: { case: "map", value: create(LiteralMapSchema, { literals }) } });
    }
    case "scalar":
    case "offloadedMetadata":
    case undefined:
      return clone(LiteralSchema, literal);
  }
}
