import { create } from "@bufbuild/protobuf";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { encodeValue } from "../codec/encode.js";
import { graphEncoding } from "../codec/encoding.js";
import { rootPlace } from "../codec/place.js";
import type { Definition } from "../entity/definition.js";
import type { AnyType } from "../type/type.js";
import type { NodeFailed } from "./local-error.js";

/** Adds the error of the failed node to the inputs of a failure handler that takes one. */
export function failureInputs({ inputs }: Definition, bound: LiteralMap, { node, message }: NodeFailed): LiteralMap {
  if (!Object.hasOwn(inputs, "err")) return bound;
  const err = encodeValue(inputs["err"] as AnyType, { failedNode: node, message }, graphEncoding, rootPlace("err"));
  return create(LiteralMapSchema, { literals: { ...bound.literals, err } });
}
