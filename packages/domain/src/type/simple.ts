import { create } from "@bufbuild/protobuf";
import { type LiteralType, LiteralTypeSchema, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";

/** One shared message for each simple type that was asked for; do not change. */
const simpleTypes = new Map<SimpleType, LiteralType>();

/** Returns the type of this simple type. The message is shared: do not change it. */
export function simpleType(simple: SimpleType): LiteralType {
  const known = simpleTypes.get(simple);
  if (known !== undefined) return known;
  const type = create(LiteralTypeSchema, { type: { case: "simple", value: simple } });
  simpleTypes.set(simple, type);
  return type;
}

/** True for the type of None, which is also the element type of an empty list or map. */
export function isNoneType(type: LiteralType): boolean {
  return type.type.case === "simple" && type.type.value === SimpleType.NONE;
}
