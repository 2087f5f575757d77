import { create } from "@bufbuild/protobuf";
import { goDuration } from "@flyte-ts/domain/duration";
import { literalText } from "@flyte-ts/domain/template";
import { LiteralSchema, type Primitive } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { JsonLikeValue } from "./json-like.js";

/**
 * Content of a primitive's file: as Go prints it, without an end of line. Source: flytecopilot's
 * downloader.
 */
export function primitiveText(primitive: Primitive): string {
  const { value } = primitive;
  switch (value.case) {
    case "floatValue":
      return decimalText(value.value);
    case "duration":
      return goDuration(value.value.seconds * 1_000_000_000n + BigInt(value.value.nanos));
    case undefined:
      return "null";
    default:
      return literalText(create(LiteralSchema, { value: { case: "scalar", value: { value: { case: "primitive", value: primitive } } } }));
  }
}

/** Value in inputs.json and inputs.yaml; times and durations are texts. */
export function primitiveValue(primitive: Primitive): JsonLikeValue {
  const { value } = primitive;
  switch (value.case) {
    case "integer":
    case "floatValue":
    case "boolean":
    case "stringValue":
      return value.value;
    case "datetime":
    case "duration":
      return primitiveText(primitive);
    case undefined:
      return null;
  }
}

/** Formats a number without an exponent, with the fewest digits that read back the same. */
function decimalText(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "+Inf" : "-Inf";
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const [digits = "", exponent = ""] = Math.abs(value).toExponential().split("e");
  const all = digits.replace(".", "");
  const point = Number(exponent) + 1;
  if (point <= 0) return value === 0 ? `${sign}0` : `${sign}0.${"0".repeat(-point)}${all}`;
  const whole = all.slice(0, point).padEnd(point, "0");
  const fraction = all.slice(point);
  return `${sign}${whole}${fraction === "" ? "" : `.${fraction}`}`;
}
