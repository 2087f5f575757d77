import { type Data, type DataObject, isDataList, isDataObject } from "../data/data.js";
import { formatData } from "../data/json-text.js";
import { shortName } from "./type-name.js";
import type { Bounds, EnumValue, FieldType, ObjectField, StructEncoding } from "./field-type.js";

/** Depth of `$ref`, `allOf` and the like that is followed at one place. */
const MAX_STEPS = 20;

interface SchemaContext {
  /** Whole schema, to which `$ref` refers. */
  readonly root: DataObject;
  readonly encoding: StructEncoding;
}

/** Reads a JSON schema, draft 4 to 2020-12. What it cannot describe is any value of JSON. */
export function readSchema(root: DataObject, encoding: StructEncoding): FieldType {
  return read(root, { root, encoding });
}

function read(data: Data | undefined, context: SchemaContext): FieldType {
  const schema = resolve(data, context);
  if (schema === undefined) return { kind: "json" };
  const { enum: values, anyOf, oneOf } = schema;
  if ("const" in schema) return { kind: "enum", values: [enumValue(schema["const"] ?? null)] };
  if (isDataList(values)) return { kind: "enum", values: values.map(enumValue) };
  const variants = isDataList(anyOf) ? anyOf : isDataList(oneOf) ? oneOf : undefined;
  if (variants !== undefined) return unionOf(variants, context);
  const { type } = schema;
  if (isDataList(type))
    return unionOf(
      type.map((each) => ({ ...schema, type: each })),
      context,
    );
  return readNamed(typeof type === "string" ? type : "properties" in schema ? "object" : "", schema, context);
}

function readNamed(type: string, schema: DataObject, context: SchemaContext): FieldType {
  switch (type) {
    case "integer":
      return { kind: "integer", ...integerBounds(schema) };
    case "number":
      return { kind: "float", ...floatBounds(schema) };
    case "string":
      return { kind: "string", format: typeof schema["format"] === "string" ? schema["format"] : "" };
    case "boolean":
      return { kind: "boolean" };
    case "null":
      return { kind: "none" };
    case "array":
      // A list whose items differ by place, as a tuple has them, has no form.
      return isDataObject(schema["items"]) && !("prefixItems" in schema)
        ? { kind: "list", item: read(schema["items"], context) }
        : { kind: "json" };
    case "object":
      return readObject(schema, context);
    default:
      return { kind: "json" };
  }
}

function readObject(schema: DataObject, context: SchemaContext): FieldType {
  const { properties, additionalProperties, title } = schema;
  if (!isDataObject(properties))
    return isDataObject(additionalProperties) ? { kind: "map", value: read(additionalProperties, context) } : { kind: "json" };
  let fields: readonly ObjectField[] | undefined;
  return {
    kind: "object",
    name: typeof title === "string" ? title : nameInSchema(schema, context),
    encoding: context.encoding,
    fields: () => (fields ??= Object.entries(properties).map(([name, data]) => fieldOf(name, data, schema, context))),
  };
}

/** Name of an object by its place in the definitions, or in the `$ref` of the whole schema. */
function nameInSchema(schema: DataObject, { root }: SchemaContext): string {
  for (const place of ["$defs", "definitions"]) {
    const definitions = root[place];
    const found = isDataObject(definitions) ? Object.entries(definitions).find(([, each]) => each === schema) : undefined;
    if (found !== undefined) return found[0];
  }
  return "object";
}

function fieldOf(name: string, data: Data, { required }: DataObject, context: SchemaContext): ObjectField {
  const own = isDataObject(data) ? data : {};
  const resolved = resolve(data, context) ?? {};
  const fallback = own["default"] ?? resolved["default"];
  const hasFallback = "default" in own || "default" in resolved;
  const description = own["description"] ?? resolved["description"];
  return {
    name,
    type: read(data, context),
    required: isDataList(required) && required.includes(name) && !hasFallback,
    ...(hasFallback && { fallback: fallback ?? null }),
    description: typeof description === "string" ? description : "",
  };
}

function unionOf(schemas: readonly Data[], context: SchemaContext): FieldType {
  const types = schemas.map((each) => read(each, context));
  const [first] = types;
  if (first !== undefined && types.length === 1) return first;
  return { kind: "union", variants: types.map((type) => ({ name: shortName(type), type })) };
}

/** Follows references and joins the parts of `allOf`; undefined where nothing is known. */
function resolve(data: Data | undefined, context: SchemaContext): DataObject | undefined {
  let schema = isDataObject(data) ? data : undefined;
  for (let step = 0; schema !== undefined && step < MAX_STEPS; step++) {
    const { $ref: reference, allOf } = schema;
    if (typeof reference === "string") schema = lookUp(reference, context.root);
    else if (isDataList(allOf)) {
      const { allOf: _, ...own } = schema;
      schema = allOf.reduce<DataObject>((joined, part) => join(joined, resolve(part, context) ?? {}), own);
    } else return schema;
  }
  return undefined;
}

function join(a: DataObject, b: DataObject): DataObject {
  const [left, right] = [a["properties"], b["properties"]];
  const [needed, more] = [a["required"], b["required"]];
  return {
    ...b,
    ...a,
    ...(isDataObject(left) && isDataObject(right) && { properties: { ...left, ...right } }),
    ...(isDataList(needed) && isDataList(more) && { required: [...needed, ...more] }),
  };
}

/** Looks a JSON pointer within the schema up: `#/$defs/Point`. */
function lookUp(reference: string, root: DataObject): DataObject | undefined {
  if (!reference.startsWith("#")) return undefined;
  let place: Data | undefined = root;
  for (const part of reference.split("/").slice(1)) {
    const name = decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
    place = isDataObject(place) && Object.hasOwn(place, name) ? place[name] : undefined;
  }
  return isDataObject(place) ? place : undefined;
}

function enumValue(data: Data): EnumValue {
  return { text: typeof data === "string" ? data : formatData(data), data };
}

/** Draft 4 has `exclusiveMinimum: true` beside `minimum`; later drafts have the bound itself. */
function integerBounds(schema: DataObject): Bounds<bigint> {
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = schema;
  const least = whole(typeof exclusiveMinimum === "boolean" ? minimum : (exclusiveMinimum ?? minimum), Math.ceil);
  const greatest = whole(typeof exclusiveMaximum === "boolean" ? maximum : (exclusiveMaximum ?? maximum), Math.floor);
  const above = isExclusive(exclusiveMinimum) ? 1n : 0n;
  const below = isExclusive(exclusiveMaximum) ? 1n : 0n;
  return { ...(least !== undefined && { minimum: least + above }), ...(greatest !== undefined && { maximum: greatest - below }) };
}

const isExclusive = (bound: Data | undefined): boolean => bound === true || typeof bound === "bigint";

function whole(bound: Data | undefined, round: (value: number) => number): bigint | undefined {
  return typeof bound === "bigint" ? bound : typeof bound === "number" && Number.isFinite(bound) ? BigInt(round(bound)) : undefined;
}

function floatBounds({ minimum, exclusiveMinimum, maximum, exclusiveMaximum }: DataObject): Bounds<number> {
  const least = number(typeof exclusiveMinimum === "boolean" ? minimum : (minimum ?? exclusiveMinimum));
  const greatest = number(typeof exclusiveMaximum === "boolean" ? maximum : (maximum ?? exclusiveMaximum));
  return { ...(least !== undefined && { minimum: least }), ...(greatest !== undefined && { maximum: greatest }) };
}

const number = (bound: Data | undefined): number | undefined =>
  typeof bound === "bigint" || typeof bound === "number" ? Number(bound) : undefined;
