import { ValueError } from "../entity/errors.js";
import type { FileStore } from "../file/file.js";
import { RemoteDataset } from "../file/dataset.js";
import { RemoteDirectory, RemoteFile } from "../file/remote.js";
import { type AnyType, described, type Fields, type JsonValue } from "../type/type.js";
import { isPlainObject, type PlainObject, type PlainValue } from "../msgpack/plain.js";
import { graphEncoding } from "./encoding.js";
import { fieldOf, itemOf, type Place, shownValue } from "./place.js";
import { toPlain } from "./to-plain.js";
import { variantsOf } from "./union.js";

/**
 * Reads a value inside of an object. Reads tolerantly, since other programs wrote it: integers for
 * floats, whole floats for integers, missing optional fields, further fields.
 *
 * @throws ValueError naming the place within the value
 */
export function fromPlain(type: AnyType, plain: PlainValue | undefined, files: FileStore, place: Place): unknown {
  const shown = described(type);
  switch (shown.kind) {
    case "int":
      return safeInteger(integerFrom(plain, place), place);
    case "bigint":
      return integerFrom(plain, place);
    case "float":
      if (typeof plain === "number" || typeof plain === "bigint") return Number(plain);
      throw wrong(place, "a number", plain);
    case "string":
      if (typeof plain === "string") return plain;
      throw wrong(place, "a string", plain);
    case "boolean":
      if (typeof plain === "boolean") return plain;
      throw wrong(place, "true or false", plain);
    case "datetime":
      return dateFrom(plain, place);
    case "duration":
      if (typeof plain === "number" || typeof plain === "bigint") return { milliseconds: millisecondsOf(Number(plain)) };
      throw wrong(place, "a number of seconds", plain);
    case "enum":
      if (typeof plain === "string" && shown.names.includes(plain)) return plain;
      throw wrong(place, `one of ${shown.names.join(", ")}`, plain);
    case "none":
      if (plain === null || plain === undefined) return null;
      throw wrong(place, "null", plain);
    case "bytes":
      if (plain instanceof Uint8Array) return plain;
      if (typeof plain === "string") return Uint8Array.from(Buffer.from(plain, "base64"));
      throw wrong(place, "bytes", plain);
    case "json":
      return jsonFromPlain(plain ?? null, place);
    case "list":
      if (!Array.isArray(plain)) throw wrong(place, "a list", plain);
      return plain.map((item: PlainValue, i) => fromPlain(shown.element, item, files, itemOf(place, i)));
    case "map":
      return Object.fromEntries(
        Object.entries(objectFrom(plain, place)).map(([key, item]) => [key, fromPlain(shown.element, item, files, fieldOf(place, key))]),
      );
    case "optional":
    case "union":
      return variantFrom(variantsOf(type), plain, files, place);
    case "object":
      return objectFromPlain(shown.fields, objectFrom(plain, place), files, place);
    case "schema":
      return shown.shape.decoded((wire) => fromPlain(wire, plain, files, place), place);
    case "file":
      return new RemoteFile(addressFrom(plain, "path", place), files);
    case "directory":
      return new RemoteDirectory(addressFrom(plain, "path", place), files);
    case "dataset":
      return new RemoteDataset({ uri: addressFrom(plain, "uri", place), format: "parquet", columns: shown.columns, files });
    case "error": {
      const { message, failed_node_id: failedNode } = objectFrom(plain, place);
      return { message: typeof message === "string" ? message : "", failedNode: typeof failedNode === "string" ? failedNode : "" };
    }
    case "default":
      if (plain === undefined || (plain === null && !holdsNull(shown.inner)))
        return fromPlain(shown.inner, toPlain(type, undefined, graphEncoding, place), files, place);
      return fromPlain(shown.inner, plain, files, place);
    case "opaque":
      throw new ValueError(`${place.text} cannot be read: ${shown.reason}`);
  }
}

function objectFromPlain(fields: Fields, plain: PlainObject, files: FileStore, place: Place): unknown {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]) => {
      const item = Object.hasOwn(plain, name) ? plain[name] : undefined;
      if ((item === undefined || item === null) && leavesOut(field)) return [];
      return [[name, fromPlain(field, item, files, fieldOf(place, name))]];
    }),
  );
}

/** True for types with the value null. */
function holdsNull(type: AnyType): boolean {
  const shown = described(type);
  if (shown.kind === "schema") return holdsNull(shown.shape.input);
  return shown.kind === "json" || variantsOf(type).some(({ kind }) => kind === "none");
}

function leavesOut(field: AnyType): boolean {
  const shown = described(field);
  return shown.kind === "optional" && shown.leavesOut === true;
}

function variantFrom(variants: readonly AnyType[], plain: PlainValue | undefined, files: FileStore, place: Place): unknown {
  if (plain === null || plain === undefined) {
    if (variants.some(({ kind }) => kind === "none")) return null;
    throw wrong(place, "a value", plain);
  }
  const some = variants.filter(({ kind }) => kind !== "none");
  if (some.length === 1) return fromPlain(some[0] as AnyType, plain, files, place);
  // A strict match comes first: 3 is an int before it is a float that was written as an integer.
  const ordered = [...some.filter((variant) => isStrict(variant, plain)), ...some.filter((variant) => !isStrict(variant, plain))];
  for (const variant of ordered) {
    try {
      return fromPlain(variant, plain, files, place);
    } catch (error) {
      if (!(error instanceof ValueError)) throw error;
    }
  }
  throw wrong(place, `one of ${variants.map(({ kind }) => kind).join(", ")}`, plain);
}

function isStrict(type: AnyType, plain: PlainValue): boolean {
  if (typeof plain === "bigint") return type.kind === "int" || type.kind === "bigint";
  if (typeof plain === "number") return type.kind === "float" || type.kind === "duration";
  return true;
}

function integerFrom(plain: PlainValue | undefined, place: Place): bigint {
  if (typeof plain === "bigint") return plain;
  if (typeof plain === "number" && Number.isInteger(plain)) return BigInt(plain);
  throw wrong(place, "an integer", plain);
}

/** Converts an integer to a number that holds it exactly. */
export function safeInteger(value: bigint, place: Place): number {
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new ValueError(`${place.text} is ${value}, which a number does not hold exactly: declare it as t.bigint`);
}

function millisecondsOf(seconds: number): number {
  return Math.round(seconds * 1e9) / 1e6;
}

function dateFrom(plain: PlainValue | undefined, place: Place): Date {
  if (typeof plain !== "string") throw wrong(place, "a time", plain);
  // Date reads milliseconds; finer fractions are cut. A time without a zone is UTC, as in flytekit.
  const [, whole, fraction = "", zone = "Z"] =
    /^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?)(?:\.(\d+))?(Z|[+-]\d\d:?\d\d)?$/i.exec(plain) ?? [];
  const date = new Date(`${whole?.replace(" ", "T")}.${fraction.padEnd(3, "0").slice(0, 3)}${zone}`);
  if (whole === undefined || Number.isNaN(date.getTime())) throw wrong(place, "a time such as 2026-01-02T03:04:05Z", plain);
  return date;
}

function objectFrom(plain: PlainValue | undefined, place: Place): PlainObject {
  if (plain !== undefined && isPlainObject(plain)) return plain;
  throw wrong(place, "an object", plain);
}

function addressFrom(plain: PlainValue | undefined, key: string, place: Place): string {
  if (typeof plain === "string") return plain;
  const address = objectFrom(plain, place)[key];
  if (typeof address === "string") return address;
  throw wrong(fieldOf(place, key), "an address", address);
}

/** Reads a JSON value. */
export function jsonFromPlain(plain: PlainValue, place: Place): JsonValue {
  if (typeof plain === "bigint") return safeInteger(plain, place);
  if (plain instanceof Uint8Array) throw wrong(place, "a JSON value", plain);
  if (Array.isArray(plain)) return plain.map((item: PlainValue, i) => jsonFromPlain(item, itemOf(place, i)));
  if (!isPlainObject(plain)) return plain as JsonValue;
  return Object.fromEntries(Object.entries(plain).map(([key, item]) => [key, jsonFromPlain(item, fieldOf(place, key))]));
}

function wrong(place: Place, wanted: string, plain: unknown): ValueError {
  return new ValueError(`${place.text} must be ${wanted}, found ${plain === undefined ? "nothing" : shownValue(plain)}`);
}
