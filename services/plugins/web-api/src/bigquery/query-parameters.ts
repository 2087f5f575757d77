import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { isTime } from "@flyte-ts/domain/timestamp";
import type { Literal, LiteralMap, Primitive } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { badTask } from "../task/bad-task.js";

export interface QueryParameter {
  readonly name: string;
  readonly parameterType: ParameterType;
  readonly parameterValue: ParameterValue;
}

interface ParameterType {
  readonly type: string;
  readonly arrayType?: ParameterType;
}

interface ParameterValue {
  readonly value?: string;
  readonly arrayValues?: readonly ParameterValue[];
}

interface Parameter {
  readonly type: ParameterType;
  readonly value: ParameterValue;
}

/**
 * Named parameters of a query from the task's inputs: integers, floats, strings, booleans, times,
 * bytes, and lists of one of these.
 * @throws PermanentFailure for inputs of other types.
 */
export function queryParameters({ literals }: LiteralMap): QueryParameter[] {
  return Object.entries(literals).map(([name, literal]) => {
    const { type, value } = parameterOf(name, literal);
    return { name, parameterType: type, parameterValue: value };
  });
}

function parameterOf(name: string, { value }: Literal): Parameter {
  if (value.case === "collection") return arrayOf(name, value.value.literals);
  const scalar = value.case === "scalar" ? value.value.value : undefined;
  if (scalar?.case === "union" && scalar.value.value !== undefined) return parameterOf(name, scalar.value.value);
  if (scalar?.case === "primitive") return primitiveOf(name, scalar.value);
  if (scalar?.case === "binary" && scalar.value.tag === "")
    return { type: { type: "BYTES" }, value: { value: Buffer.from(scalar.value.value).toString("base64") } };
  throw unsupported(name, scalar?.case ?? value.case ?? "none");
}

function arrayOf(name: string, literals: readonly Literal[]): Parameter {
  const items = literals.map((literal) => parameterOf(name, literal));
  const [first] = items;
  // BigQuery requires a type even for an empty list; the query may compare a list of text with
  // other types.
  const type = first?.type ?? { type: "STRING" };
  if (type.type === "ARRAY" || items.some((item) => item.type.type !== type.type)) throw unsupported(name, "list of several types");
  return { type: { type: "ARRAY", arrayType: type }, value: { arrayValues: items.map((item) => item.value) } };
}

function primitiveOf(name: string, { value }: Primitive): Parameter {
  const parameter = (type: string, text: string): Parameter => ({ type: { type }, value: { value: text } });
  switch (value.case) {
    case "integer":
      return parameter("INT64", String(value.value));
    case "floatValue":
      return parameter("FLOAT64", String(value.value));
    case "stringValue":
      return parameter("STRING", value.value);
    case "boolean":
      return parameter("BOOL", String(value.value));
    case "datetime":
      return parameter("TIMESTAMP", timestampText(name, value.value));
    default:
      throw unsupported(name, value.case ?? "none");
  }
}

/** Formats a time with microseconds, the precision of BigQuery. */
function timestampText(name: string, time: Timestamp): string {
  if (!isTime(time)) throw badTask(`input ${JSON.stringify(name)} is no query parameter: its time is outside the years 1 to 9999`);
  const { seconds, nanos } = time;
  const date = new Date(Number(seconds) * 1000).toISOString().slice(0, -".000Z".length);
  return `${date}.${String(Math.floor(nanos / 1000)).padStart(6, "0")}Z`;
}

function unsupported(name: string, kind: string) {
  return badTask(`input ${JSON.stringify(name)} is no query parameter: values of kind ${kind} are not supported`);
}
