import { create } from "@bufbuild/protobuf";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";

export function integerLiteral(value: number): Literal {
  return create(LiteralSchema, {
    value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "integer", value: BigInt(value) } } } } },
  });
}

export function textLiteral(value: string): Literal {
  return create(LiteralSchema, {
    value: { case: "scalar", value: { value: { case: "primitive", value: { value: { case: "stringValue", value } } } } },
  });
}
