import type { Literal, Primitive, Scalar } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { durationText, floatText, timestampText } from "./go-text.js";
import { msgpackText } from "./msgpack-text.js";

/**
 * Formats a literal as command-line text. Lists are in brackets, separated by commas; blobs and
 * schemas are their URI; structured values print as in Go.
 * @throws TypeError for literals without a text form (maps, unions, datasets, none, errors, generic
 *   structs).
 */
export function literalText(literal: Literal): string {
  switch (literal.value.case) {
    case "collection":
      return `[${literal.value.value.literals.map(literalText).join(",")}]`;
    case "scalar":
      return scalarText(literal.value.value);
    default:
      throw new TypeError(`a literal of kind ${literal.value.case ?? "none"} has no text form`);
  }
}

function scalarText({ value }: Scalar): string {
  switch (value.case) {
    case "primitive":
      return primitiveText(value.value);
    case "blob":
    case "schema":
      return value.value.uri;
    case "binary":
      if (value.value.tag !== "msgpack") throw new TypeError(`binary data tagged ${JSON.stringify(value.value.tag)} has no text form`);
      return msgpackText(value.value.value);
    default:
      throw new TypeError(`a scalar of kind ${value.case ?? "none"} has no text form`);
  }
}

function primitiveText({ value }: Primitive): string {
  switch (value.case) {
    case "integer":
    case "boolean":
    case "stringValue":
      return String(value.value);
    case "floatValue":
      return floatText(value.value);
    case "datetime":
      return timestampText(value.value.seconds, value.value.nanos);
    case "duration":
      return durationText(value.value.seconds, value.value.nanos);
    default:
      throw new TypeError("a primitive without a value has no text form");
  }
}
