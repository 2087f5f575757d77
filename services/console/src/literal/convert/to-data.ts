import { type Data, isDataList, isDataObject } from "../data/data.js";
import { parseData } from "../data/json-text.js";
import { type FormValue, isJson, isList, isMap, isObject, isUnion, type Problem } from "../form-value.js";
import { readFloat, readInteger, type Reading } from "../scalar/number.js";
import type { FieldType, ObjectType } from "../type/field-type.js";

/** Reports the rule that a value breaks. */
export type Fail = (text: string, isEmpty?: boolean) => undefined;

/** Rules that values break, collected while they are converted. */
export type Problems = Problem[];

const REQUIRED = "Needs a value.";

/**
 * Returns what a form holds of a value within a JSON schema as data. Adds to the problems and
 * returns undefined where it breaks a rule.
 */
export function toData(type: FieldType, value: FormValue | undefined, path: string, problems: Problems): Data | undefined {
  const fail: Fail = (text, isEmpty = false) => void problems.push({ path, text, ...(isEmpty && { isEmpty }) });
  if (value === undefined) return fail(REQUIRED, true);
  if (isJson(value)) return jsonOf(type, value.json, path, problems);
  switch (type.kind) {
    case "integer":
      return take(readInteger(textOf(value), type), fail);
    case "float":
      return take(readFloat(textOf(value), type), fail);
    case "string":
    case "datetime":
    case "duration":
      return textOf(value);
    case "boolean":
      return value === true;
    case "none":
      return null;
    case "enum": {
      const found = type.values.find(({ text }) => text === value);
      return found === undefined ? fail("Choose one of the values.") : found.data;
    }
    case "list": {
      const items = (isList(value) ? value.items : []).map((item, index) => toData(type.item, item, join(path, index), problems));
      return items.some((item) => item === undefined) ? undefined : (items as readonly Data[]);
    }
    case "map":
      return mapToData(type.value, value, path, problems);
    case "union": {
      const variant = isUnion(value) ? type.variants[value.variant] : undefined;
      return variant === undefined || !isUnion(value) ? fail("Choose a type.") : toData(variant.type, value.value, path, problems);
    }
    case "object":
      return objectToData(type, value, path, problems);
    default:
      return jsonOf(type, textOf(value), path, problems);
  }
}

function objectToData(type: ObjectType, value: FormValue, path: string, problems: Problems): Data | undefined {
  const given = isObject(value) ? value.fields : {};
  const entries: (readonly [string, Data])[] = [];
  let broken = false;
  for (const { name, type: field, required } of type.fields()) {
    if (given[name] === undefined && !required) continue;
    const data = toData(field, given[name], join(path, name), problems);
    if (data === undefined) broken = true;
    else entries.push([name, data]);
  }
  return broken ? undefined : Object.fromEntries(entries);
}

function mapToData(type: FieldType, value: FormValue, path: string, problems: Problems): Data | undefined {
  const entries = readEntries(value, path, problems, (each, at) => toData(type, each, at, problems));
  return entries && Object.fromEntries(entries);
}

/** Converts the entries of a map, whose keys must differ. */
export function readEntries<Result>(
  value: FormValue,
  path: string,
  problems: Problems,
  convert: (value: FormValue, path: string) => Result | undefined,
): readonly (readonly [string, Result])[] | undefined {
  const seen = new Set<string>();
  const entries: (readonly [string, Result])[] = [];
  const all = isMap(value) ? value.entries : [];
  for (const [index, { key, value: each }] of all.entries()) {
    const at = join(path, index);
    if (seen.has(key)) problems.push({ path: join(at, "key"), text: `The key ${JSON.stringify(key)} is there twice: keys must differ.` });
    seen.add(key);
    const result = convert(each, at);
    if (result !== undefined) entries.push([key, result]);
  }
  return entries.length === all.length && seen.size === all.length ? entries : undefined;
}

/** Reads JSON in place of fields: an object or a list as the type is; the task checks the rest. */
function jsonOf(type: FieldType, text: string, path: string, problems: Problems): Data | undefined {
  const fail: Fail = (problem, isEmpty = false) => void problems.push({ path, text: problem, ...(isEmpty && { isEmpty }) });
  let data: Data;
  try {
    data = parseData(text);
  } catch (error) {
    return text.trim() === ""
      ? fail("Write JSON, such as {}.", true)
      : fail(`Not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if ((type.kind === "object" || type.kind === "map" || type.kind === "struct") && !isDataObject(data))
    return fail('Not an object: write it in braces, such as {"name": 1}.');
  if (type.kind === "list" && !isDataList(data)) return fail("Not a list: write it in brackets, such as [1, 2].");
  return data;
}

export const join = (path: string, part: string | number): string => (path === "" ? String(part) : `${path}.${part}`);

export const textOf = (value: FormValue): string => (typeof value === "string" ? value : "");

/** Takes the value that was read, or reports the rule that it breaks. */
export function take<Value>({ value, problem, isEmpty }: Reading<Value>, fail: Fail): Value | undefined {
  return problem === undefined ? value : fail(problem, isEmpty);
}
