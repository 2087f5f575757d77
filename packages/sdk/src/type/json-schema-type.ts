import { type AnyType, described, type Fields } from "./type.js";
import { WORDS as t } from "./words.js";

type JsonSchema = Readonly<Record<string, unknown>>;

interface Reading {
  readonly root: JsonSchema;
  /** Place within the schema, for messages. */
  readonly at: string;
  /** References being followed, to find circles. */
  readonly following: readonly string[];
  /** Forms that flytekit writes for times, files and data sets are read as these. */
  readonly flytekit: boolean;
  readonly withDefault: WithDefault;
}

/** Adds the default that a schema states in JSON to the type of a field. */
export type WithDefault = (type: AnyType, json: unknown) => AnyType;

/**
 * Returns the type that a JSON Schema describes. Limits such as `minLength` are left out: the
 * library checks them.
 *
 * @throws TypeError with the place of a form that Flyte cannot carry: tuples, `allOf`, circles
 */
export function typeOfJsonSchema(schema: unknown): AnyType {
  const root = objectIn(schema, "#");
  return read(root, { root, at: "#", following: [], flytekit: false, withDefault: t.default });
}

/**
 * Returns the type of a JSON Schema that flytekit wrote, in which times, files and data sets have
 * forms of their own. Defaults have the forms that values have within objects.
 *
 * @throws TypeError as typeOfJsonSchema does
 */
export function typeOfFlytekitSchema(schema: unknown, withDefault: WithDefault): AnyType {
  const root = objectIn(schema, "#");
  return read(root, { root, at: "#", following: [], flytekit: true, withDefault });
}

/** True when two types differ by defaults and optional fields alone. */
export function sameShape(a: AnyType, b: AnyType): boolean {
  const [left, right] = [described(bare(a)), described(bare(b))];
  if (left.kind !== right.kind) return false;
  if (left.kind === "list" || left.kind === "map") return sameShape(left.element, (right as typeof left).element);
  if (left.kind === "optional") return sameShape(left.inner, (right as typeof left).inner);
  if (left.kind === "enum") return left.names.join("\n") === (right as typeof left).names.join("\n");
  if (left.kind === "union") {
    const members = (right as typeof left).members;
    return members.length === left.members.length && left.members.every((member, i) => sameShape(member, members[i] as AnyType));
  }
  if (left.kind !== "object") return true;
  const fields = (right as typeof left).fields;
  const names = Object.keys(left.fields);
  return (
    names.length === Object.keys(fields).length &&
    names.every((name) => Object.hasOwn(fields, name) && sameShape(left.fields[name] as AnyType, fields[name] as AnyType))
  );
}

/** Removes a default, and the optional around a field that may be absent. */
function bare(type: AnyType): AnyType {
  const shown = described(type);
  return shown.kind === "default" || (shown.kind === "optional" && shown.leavesOut === true) ? bare(shown.inner) : type;
}

const REFUSED = ["allOf", "not", "if", "patternProperties", "dependentSchemas", "prefixItems"];

function read(schema: JsonSchema, reading: Reading): AnyType {
  const reference = schema["$ref"];
  if (typeof reference === "string") return follow(reference, reading);
  const refused = REFUSED.find((keyword) => schema[keyword] !== undefined);
  if (refused !== undefined) throw new TypeError(`${reading.at} uses ${refused}, for which Flyte has no type`);
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(alternatives)) return readAlternatives(alternatives, reading);
  if (schema["const"] !== undefined) return readEnum([schema["const"]], reading);
  if (Array.isArray(schema["enum"])) return readEnum(schema["enum"], reading);
  const own = reading.flytekit ? flytekitType(schema) : undefined;
  if (own !== undefined) return own;
  const type = schema["type"];
  if (Array.isArray(type))
    return readAlternatives(
      type.map((each: unknown) => ({ ...schema, type: each })),
      reading,
    );
  return readSimple(type, schema, reading);
}

const FORMATS: ReadonlyMap<unknown, AnyType> = new Map<unknown, AnyType>([
  ["string date-time", t.datetime],
  ["number time-delta", t.duration],
  ["string base64", t.bytes],
]);
const CLASSES: ReadonlyMap<unknown, AnyType> = new Map<unknown, AnyType>([
  ["FlyteFile", t.file()],
  ["FlyteDirectory", t.directory()],
  ["StructuredDataset", t.dataset()],
]);

function flytekitType({ type, format, title }: JsonSchema): AnyType | undefined {
  return type === "object" ? CLASSES.get(title) : FORMATS.get(`${String(type)} ${String(format)}`);
}

function readSimple(type: unknown, schema: JsonSchema, reading: Reading): AnyType {
  switch (type) {
    case "integer":
      return t.int;
    case "number":
      return t.float;
    case "string":
      return t.string;
    case "boolean":
      return t.boolean;
    case "null":
      return t.none;
    case "array":
      if (Array.isArray(schema["items"])) throw new TypeError(`${reading.at} is a tuple, for which Flyte has no type`);
      return t.list(
        schema["items"] === undefined ? t.json : read(objectIn(schema["items"], `${reading.at}/items`), inside(reading, "items")),
      );
    case "object":
      return readObject(schema, reading);
    case undefined:
      return schema["properties"] === undefined ? t.json : readObject(schema, reading);
    default:
      throw new TypeError(`${reading.at} has the type ${JSON.stringify(type)}, which is unknown`);
  }
}

function readObject(schema: JsonSchema, reading: Reading): AnyType {
  const properties = schema["properties"];
  const further = schema["additionalProperties"];
  if (properties === undefined) {
    if (typeof further !== "object" || further === null) return t.json;
    return t.map(read(objectIn(further, reading.at), inside(reading, "additionalProperties")));
  }
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const fields = Object.entries(objectIn(properties, reading.at)).map(([name, property]) => {
    const at = inside(reading, `properties/${name}`);
    return [name, readField(objectIn(property, at.at), required.has(name), at)] as const;
  });
  const title = schema["title"];
  return t.object(Object.fromEntries(fields) as Fields, typeof title === "string" ? { title } : {});
}

function readField(property: JsonSchema, required: boolean, reading: Reading): AnyType {
  const type = read(property, reading);
  if (required) return type;
  if (property["default"] !== undefined) return reading.withDefault(type, property["default"]);
  if (type.kind === "optional") return type;
  return { ...t.optional(type), leavesOut: true } as AnyType;
}

function readAlternatives(alternatives: readonly unknown[], reading: Reading): AnyType {
  const types = alternatives.map((each, i) => read(objectIn(each, reading.at), inside(reading, `anyOf/${i}`)));
  const texts = types.flatMap((type) => namesOf(type) ?? []);
  const some = types.filter(({ kind }) => kind !== "none");
  const [first, second, ...rest] = some;
  if (first === undefined) return t.none;
  const allTexts = some.every((type) => namesOf(type) !== undefined);
  const type = second === undefined ? first : allTexts ? readEnum(texts, reading) : t.union(first, second, ...rest);
  return some.length < types.length ? t.optional(type) : type;
}

function namesOf(type: AnyType): readonly string[] | undefined {
  const shown = described(type);
  return shown.kind === "enum" ? shown.names : undefined;
}

function readEnum(values: readonly unknown[], reading: Reading): AnyType {
  const names = values.filter((value) => value !== null);
  if (names.every((name) => typeof name === "string")) {
    const [first, ...rest] = names;
    if (first === undefined) return t.none;
    return names.length < values.length ? t.optional(t.enum(first, ...rest)) : t.enum(first, ...rest);
  }
  if (values.every((value) => typeof value === "boolean")) return t.boolean;
  if (values.every((value) => Number.isInteger(value))) return t.int;
  if (values.every((value) => typeof value === "number")) return t.float;
  throw new TypeError(`${reading.at} mixes kinds of constants, for which Flyte has no type`);
}

function follow(reference: string, reading: Reading): AnyType {
  if (reading.following.includes(reference))
    throw new TypeError(`${reading.at} refers to itself by ${reference}; Flyte's types are finite`);
  let found: unknown = reading.root;
  for (const step of reference.replace(/^#\/?/, "").split("/").filter(Boolean)) {
    found = objectIn(found, reference)[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return read(objectIn(found, reference), { ...reading, at: reference, following: [...reading.following, reference] });
}

function inside(reading: Reading, step: string): Reading {
  return { ...reading, at: `${reading.at}/${step}` };
}

function objectIn(value: unknown, at: string): JsonSchema {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonSchema;
  if (value === true) return {};
  throw new TypeError(`${at} is no schema`);
}
