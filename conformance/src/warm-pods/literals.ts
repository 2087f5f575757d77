import { create } from "@bufbuild/protobuf";
import { type Literal, LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";

type Primitive = { readonly case: "stringValue"; readonly value: string } | { readonly case: "floatValue"; readonly value: number };

const primitive = (value: Primitive): Literal =>
  create(LiteralSchema, { value: { case: "scalar", value: { value: { case: "primitive", value: { value } } } } });

export const stringLiteral = (value: string): Literal => primitive({ case: "stringValue", value });
export const floatLiteral = (value: number): Literal => primitive({ case: "floatValue", value });
export const listLiteral = (literals: Literal[]): Literal => create(LiteralSchema, { value: { case: "collection", value: { literals } } });
