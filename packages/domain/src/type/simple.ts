import { create } from "@bufbuild/protobuf";
import { type LiteralType, LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";

/** One shared message for each simple type; do not change. */
const simpleTypes: readonly LiteralType[] = Array.from({ length: SimpleType.STRUCT + 1 }, (_, simple) =>
  create(LiteralTypeSchema, { type: { case: "simple", value: simple } }),
);

/** Returns the type of this simple type. The message is shared: do not change it. */
export function simpleType(simple: SimpleType): LiteralType {
  return simpleTypes[simple] ?? create(LiteralTypeSchema, { type: { case: "simple", value: simple } });
}

/** True for the type of None, which is also the element type of an empty list or map. */
export function isNoneType(type: LiteralType): boolean {
  return type.type.case === "simple" && type.type.value === SimpleType.NONE;
}
