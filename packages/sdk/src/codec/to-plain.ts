import { ValueError } from "../entity/errors.js";
import { fileUri, directoryUri } from "../file/source.js";
import { datasetAddress } from "../file/dataset.js";
import { FlyteOpaque } from "../type/opaque.js";
import { type AnyType, described, type Fields } from "../type/type.js";
import type { PlainObject, PlainValue } from "../msgpack/plain.js";
import { checkOnly, type Encoding } from "./encoding.js";
import { fieldOf, itemOf, mismatch, type Place } from "./place.js";
import {
  bigintIn,
  booleanIn,
  bytesIn,
  dateIn,
  durationIn,
  enumIn,
  integerIn,
  isRecord,
  listIn,
  numberIn,
  recordIn,
  stringIn,
} from "./primitive.js";
import { variantsOf } from "./union.js";

/**
 * Converts a value to the form that it has inside of an object: what flytekit's msgpack holds.
 * Integers become bigints, so that the writer tells them from floats.
 *
 * @throws ValueError naming the place within the value
 */
export function toPlain(type: AnyType, value: unknown, encoding: Encoding, place: Place): PlainValue {
  const shown = described(type);
  switch (shown.kind) {
    case "int":
      return integerIn(value, place);
    case "bigint":
      return bigintIn(value, place);
    case "float":
      return numberIn(value, place);
    case "string":
      return stringIn(value, place);
    case "boolean":
      return booleanIn(value, place);
    case "datetime":
      return pythonTime(dateIn(value, place));
    case "duration":
      return durationIn(value, place).milliseconds / 1000;
    case "enum":
      return enumIn(value, shown.names, place);
    case "none":
      if (value !== null && value !== undefined) throw mismatch(place, "null", value);
      return null;
    case "bytes":
      return bytesIn(value, place);
    case "json":
      return jsonToPlain(value, place);
    case "list":
      return listIn(value, place).map((item, i) => toPlain(shown.element, item, encoding, itemOf(place, i)));
    case "map":
      return Object.fromEntries(
        Object.entries(recordIn(value, place)).map(([key, item]) => [
          stringIn(key, place),
          toPlain(shown.element, item, encoding, fieldOf(place, key)),
        ]),
      );
    case "optional":
    case "union":
      return toPlain(variantFor(type, value, place), value, encoding, place);
    case "object":
      return objectToPlain(shown.fields, value, encoding, place);
    case "schema": {
      const { type: wire, value: given } = shown.shape.encoded(value, place);
      return toPlain(wire, given, encoding, place);
    }
    case "file":
      return { path: fileUri(value, shown, encoding, place) };
    case "directory":
      return { path: directoryUri(value, encoding, place) };
    case "dataset": {
      const { uri, format } = datasetAddress(value, shown, encoding, place);
      return { uri, file_format: format };
    }
    case "error": {
      const { message, failedNode } = recordIn(value, place);
      return { message: stringIn(message, place), failed_node_id: stringIn(failedNode, place) };
    }
    case "default":
      return toPlain(shown.inner, value === undefined ? shown.value : value, encoding, place);
    case "opaque":
      if (!(value instanceof FlyteOpaque)) throw mismatch(place, "a FlyteOpaque", value);
      throw new ValueError(`${place.text} cannot be part of an object: ${shown.reason}`);
  }
}

/** Formats a time as Python's `isoformat` does in UTC with microseconds. */
export function pythonTime(date: Date): string {
  return date.toISOString().replace(/\.(\d{3})Z$/, ".$1000+00:00");
}

/** Converts a JSON value; integral numbers become integers, as in Python. */
export function jsonToPlain(value: unknown, place: Place): PlainValue {
  if (value === null || typeof value === "boolean") return value;
  if (typeof value === "string") return stringIn(value, place);
  if (typeof value === "number") return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  if (Array.isArray(value)) return value.map((item: unknown, i) => jsonToPlain(item, itemOf(place, i)));
  if (!isRecord(value)) throw mismatch(place, "a JSON value", value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [stringIn(key, place), jsonToPlain(item, fieldOf(place, key))]));
}

function objectToPlain(fields: Fields, value: unknown, encoding: Encoding, place: Place): PlainObject {
  const record = recordIn(value, place);
  const unknown = Object.keys(record).find((name) => !Object.hasOwn(fields, name) && record[name] !== undefined);
  if (unknown !== undefined) throw new ValueError(`${fieldOf(place, unknown).text} is not declared`);
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => {
      const item = Object.hasOwn(record, name) ? record[name] : undefined;
      return [name, toPlain(field, item, encoding, fieldOf(place, name))];
    }),
  );
}

/**
 * Chooses the variant of a union that a value belongs to: the first in order of declaration that
 * can carry it.
 *
 * @throws ValueError when none can
 */
export function variantFor(type: AnyType, value: unknown, place: Place): AnyType {
  const variants = variantsOf(type);
  const none = value === null || value === undefined ? variants.find(({ kind }) => kind === "none") : undefined;
  const chosen = none ?? variants.find((variant) => isEncodable(variant, value, place));
  if (chosen !== undefined) return chosen;
  const some = variants.filter(({ kind }) => kind !== "none");
  // The message of the only variant names the place inside of the value.
  if (some.length === 1 && value !== null && value !== undefined) toPlain(some[0] as AnyType, value, checkOnly(), place);
  throw mismatch(place, `one of ${variants.map(({ kind }) => kind).join(", ")}`, value);
}

function isEncodable(type: AnyType, value: unknown, place: Place): boolean {
  if (type.kind === "none") return value === null || value === undefined;
  try {
    toPlain(type, value, checkOnly(), place);
    return true;
  } catch (error) {
    if (error instanceof ValueError) return false;
    throw error;
  }
}
