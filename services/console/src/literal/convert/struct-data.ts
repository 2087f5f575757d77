import type { LiteralJson, ScalarJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { isGiven } from "../../format/given.js";
import { fromBase64, toBase64 } from "../data/base64.js";
import { type Data, dataOfJson, isDataList, isDataObject } from "../data/data.js";
import { decodeMsgpack } from "../data/decode-msgpack.js";
import { encodeMsgpack } from "../data/encode-msgpack.js";
import type { StructEncoding } from "../type/field-type.js";

/** Tag of binary literals that hold msgpack. */
const MSGPACK = "msgpack";

/** Returns an object as the literal that flytekit writes of it, or why there is none. */
export function structLiteral(data: Data, encoding: StructEncoding): LiteralJson | string {
  if (encoding === "msgpack") {
    try {
      return { scalar: { binary: { value: toBase64(encodeMsgpack(data)), tag: MSGPACK } } };
    } catch (error) {
      if (error instanceof RangeError) return "A whole number has more than 64 bits: write a smaller one.";
      throw error;
    }
  }
  const problem = structProblem(data);
  return problem ?? { scalar: { generic: plainJson(data) as NonNullable<ScalarJson["generic"]> } };
}

/** Reads the data of a struct or of msgpack; undefined for another literal. */
export function structData(literal: LiteralJson): { readonly data: Data; readonly encoding: StructEncoding } | undefined {
  const { binary, generic } = literal.scalar ?? {};
  if (isGiven(generic)) return { data: dataOfJson(generic), encoding: "struct" };
  if (!isGiven(binary) || binary.tag !== MSGPACK) return undefined;
  let bytes: Uint8Array;
  try {
    bytes = fromBase64(binary.value ?? "");
  } catch {
    return undefined;
  }
  const data = decodeMsgpack(bytes);
  return data === undefined ? undefined : { data, encoding: "msgpack" };
}

/** A protobuf struct has numbers of 64-bit floats, without those that JSON cannot write. */
function structProblem(data: Data): string | undefined {
  if (typeof data === "bigint" && BigInt(Number(data)) !== data)
    return `The type of this input holds numbers with 53 bits: ${data} would change. Write a smaller one, or a text.`;
  if (typeof data === "number" && !Number.isFinite(data)) return "The type of this input holds neither nan nor inf: write a number.";
  const parts = isDataList(data) ? data : isDataObject(data) ? Object.values(data) : [];
  return parts.map(structProblem).find((problem) => problem !== undefined);
}

function plainJson(data: Data): unknown {
  if (typeof data === "bigint") return Number(data);
  if (isDataList(data)) return data.map(plainJson);
  return isDataObject(data) ? Object.fromEntries(Object.entries(data).map(([name, value]) => [name, plainJson(value)])) : data;
}
